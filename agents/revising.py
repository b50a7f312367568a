"""Edited arguments and skipped rows: a fresh proposal, never a guess at what the person meant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from agents.asking import resealed
from agents.errors import ApprovalSettled, Invalid, NotFound, VersionConflict
from agents.requests import Decision, Person
from agents.setup import Setup
from stores import approvals, turns
from stores.approvals import Approval
from stores.changes import dump_changes, irreversible, load_changes, normal_form
from stores.shapes import NotMade, StoredVersion, StoredWords
from stores.turns import Turn
from toolsets.cards import Card
from toolsets.errors import ArgumentsError, DomainError
from toolsets.gate import Actor, Draws, GateCall, Proposal, card_as_json
from toolsets.gate.calls import Ran
from toolsets.registry import ToolSpec
from toolsets.words import Locale, Words

NO_TOOL = Words("这个工具已经不在或变了", "belong to a tool that is gone or has changed")
NOT_OPTIONAL = Words("只能略过标为可选的行", "names a row that can't be left out")
NOT_BOTH = Words("不能和新的参数一起给", "can't be given together with new arguments")
OTHERS_MOVE = Words("略过这些行会改变其他行", "would change other rows")
NO_LONGER = Words("前面的修改之后，这一项行不通了。", "After the change before it, this one would not work any more.")


@dataclass(frozen=True, kw_only=True)
class Revised:
    """New versions to be stored, each with the version that it was made from."""

    approval: Approval
    rows: tuple[tuple[Approval, Approval], ...]
    only: bool
    """The new version waits for a decision of its own."""


async def revise(setup: Setup, person: Person, approval: Approval, decision: Decision) -> Revised | None:
    """The new version that a decision asks for; None when it asks for none.

    Raises Invalid (arguments, rows, or the domain says no), ApprovalSettled, VersionConflict.
    """
    if decision.decision != "approve" or (decision.arguments is None and not decision.skip):
        return None
    if approval.status != "pending":
        if asks_the_same(setup, approval, decision):
            return None
        raise ApprovalSettled(approval.status)
    if decision.expected_version is not None and decision.expected_version != approval.version:
        raise VersionConflict(approval.version)
    async with setup.database.read() as connection:
        turn = await turns.get(connection, person.user_id, approval.turn_id)
        siblings = await approvals.of_turns(connection, person.user_id, [approval.turn_id])
    if turn is None:
        raise NotFound
    return await _Revision(setup, turn, siblings).of(approval, decision)


def asks_the_same(setup: Setup, approval: Approval, decision: Decision) -> bool:
    """Whether the decision, if it edits or skips, asks for what the approval is already."""
    asked = approval.decision["skip"] if approval.decision else []
    if decision.skip and set(decision.skip) not in (set(asked), set(approval.skip or ())):
        return False
    if decision.arguments is None or decision.arguments == approval.arguments:
        return True
    spec = setup.registry.tools.get(approval.tool)
    try:
        return spec is not None and spec.arguments.normalized(dict(decision.arguments)) == approval.arguments
    except ArgumentsError:
        return False


class _Revision:
    def __init__(self, setup: Setup, turn: Turn, siblings: Sequence[Approval]) -> None:
        self._setup = setup
        self._turn = turn
        self._siblings = [one for one in siblings if one.status in ("pending", "approved") and self._as_proposed(one)]
        locale: Locale = "zh" if turn.locale == "zh" else "en"
        self._actor = Actor(
            user_id=turn.user_id,
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            epoch=turn.epoch,
            zone=ZoneInfo(turn.zone),
            locale=locale,
            claims=turn.claims or {},
        )

    async def of(self, approval: Approval, decision: Decision) -> Revised:
        spec = self._setup.registry.tools.get(approval.tool)
        if spec is None or not self._as_proposed(approval):
            raise Invalid([{"field": "arguments", "message": NO_TOOL}])
        arguments = approval.arguments
        if decision.arguments is not None:
            arguments = self._normalized(spec, decision.arguments)
        proposal = await self._proposed(approval, arguments, self._before(approval), decision)
        if decision.skip:
            self._check_rest(approval, proposal, decision)
        fresh = self._version(approval, proposal, sorted(proposal.skip))
        later = await self._later(approval, proposal)
        return Revised(
            approval=fresh,
            rows=((fresh, approval), *later),
            only=decision.arguments is not None and not decision.execute,
        )

    def _as_proposed(self, approval: Approval) -> bool:
        """Whether the tool is still there as it was; what isn't will not be executed."""
        spec = self._setup.registry.tools.get(approval.tool)
        return spec is not None and spec.schema_hash == approval.schema_hash

    def _normalized(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return spec.arguments.normalized(dict(arguments))
        except ArgumentsError as error:
            raise Invalid(
                [{"field": f"arguments.{one['field']}", "message": one["message"]} for one in error.problems]
            ) from error

    def _before(self, approval: Approval) -> list[Proposal]:
        return [self._stored(one) for one in self._siblings if one.position < approval.position]

    def _call(self, approval: Approval, arguments: Mapping[str, Any]) -> GateCall:
        spec = self._setup.registry.tools[approval.tool]
        return GateCall(
            id=approval.tool_call_id, spec=spec, pack=self._setup.registry.packs[spec.pack], arguments=arguments
        )

    def _stored(self, approval: Approval) -> Proposal:
        """An earlier proposal of the step as it stands, to be replayed."""
        changes = load_changes(approval.changes)
        ran = Ran(result={}, changes=changes, normal=normal_form(changes), card=Card(summary=Words.same("")))
        return Proposal(
            call=self._call(approval, approval.arguments),
            draws=Draws.stored(approval.draws, self._setup.new_id),
            ran=ran,
            depends_on=(),
            skip=frozenset(approval.skip or ()),
            position=approval.draws["call"],
        )

    async def _proposed(
        self, approval: Approval, arguments: Mapping[str, Any], before: Sequence[Proposal], decision: Decision
    ) -> Proposal:
        same = decision.arguments is None
        skip = self._skipped(approval, decision.skip)
        draws = Draws.stored(approval.draws, self._setup.new_id) if same else None
        try:
            return await self._setup.gate.propose(
                self._actor,
                before,
                self._call(approval, arguments),
                skip=skip,
                draws=draws,
                position=approval.draws["call"],
            )
        except DomainError as error:
            field = "skip" if same else "arguments"
            raise Invalid([{"field": field, "message": error.words}]) from error

    def _skipped(self, approval: Approval, skip: Sequence[str]) -> frozenset[str]:
        """The rows to leave out, with those that can't be without them. Raises Invalid."""
        rows = {row["row_id"]: row for row in approval.card["rows"]}
        for row_id in skip:
            if row_id not in rows or not rows[row_id]["optional"]:
                raise Invalid([{"field": "skip", "message": NOT_OPTIONAL}])
        gone = set(skip)
        while more := {key for key, row in rows.items() if key not in gone and gone & set(row["depends_on"])}:
            gone |= more
        return frozenset(gone | set(approval.skip or ()))

    def _check_rest(self, approval: Approval, proposal: Proposal, decision: Decision) -> None:
        """Exactly the approved rows less the skipped ones, or nothing."""
        if decision.arguments is not None:
            raise Invalid([{"field": "skip", "message": NOT_BOTH}])
        gone = {index for row in approval.card["rows"] if row["row_id"] in proposal.skip for index in row["changes"]}
        kept = [change for index, change in enumerate(load_changes(approval.changes)) if index not in gone]
        wanted = normal_form(kept, call=approval.draws["call"])
        if wanted.digest != proposal.ran.normal.digest:
            raise Invalid([{"field": "skip", "message": OTHERS_MOVE}])

    def _version(self, approval: Approval, proposal: Proposal, skip: Sequence[str]) -> Approval:
        first = approval.card["rows"][0]["n"] if approval.card["rows"] else 1
        earlier = StoredVersion(
            version=approval.version,
            arguments=approval.arguments,
            card=approval.card,
            edited_by=approval.user_id,
            at=self._setup.clock().isoformat(),
        )
        edited = proposal.call.arguments != approval.arguments
        fresh = replace(
            approval,
            version=approval.version + 1,
            status="pending",
            arguments=dict(proposal.call.arguments),
            arguments_hash=proposal.call.arguments_hash,
            changes=dump_changes(proposal.ran.changes),
            normal_form=proposal.ran.normal.text,
            change_digest=proposal.ran.normal.digest,
            card=card_as_json(proposal.ran.card, first),
            draws=proposal.draws.as_json(approval.draws["call"]),
            depends_on=self._built_on(proposal),
            skip=list(skip) or None,
            decision=None,
            reversible=not irreversible(proposal.ran.changes),
            versions=[*(approval.versions or []), earlier] if edited else approval.versions,
        )
        return resealed(fresh, self._setup)

    def _built_on(self, proposal: Proposal) -> list[str]:
        return [one.id for one in self._siblings if one.tool_call_id in proposal.depends_on]

    async def _later(self, approval: Approval, proposal: Proposal) -> list[tuple[Approval, Approval]]:
        """Later siblings, proposed anew on top of the new version."""
        moved: list[tuple[Approval, Approval]] = []
        before = [*self._before(approval), proposal]
        for one in self._siblings:
            if one.position <= approval.position:
                continue
            draws = Draws.stored(one.draws, self._setup.new_id)
            call = self._call(one, one.arguments)
            try:
                again = await self._setup.gate.propose(
                    self._actor,
                    before,
                    call,
                    skip=frozenset(one.skip or ()),
                    draws=draws,
                    position=one.draws["call"],
                )
            except DomainError as error:
                words = StoredWords(zh=NO_LONGER.zh + error.words.zh, en=f"{NO_LONGER.en} {error.words.en}")
                outcome = NotMade(code="stale", message=words, changed=False, safe_to_retry=True, moved=[])
                moved.append((replace(one, status="stale", outcome=outcome), one))
                continue
            if again.ran.normal.digest != one.change_digest:
                moved.append((self._version(one, again, sorted(one.skip or ())), one))
            before.append(again)
        return moved
