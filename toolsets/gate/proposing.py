"""Proposing: a dry run of the same code that would execute, always rolled back."""

from collections.abc import Sequence

from stores.changes import RowKey
from toolsets.errors import DomainError
from toolsets.gate.bench import Bench, retried
from toolsets.gate.calls import Actor, Conditions, Draws, GateCall, Proposal, Ran
from toolsets.words import Words

NOTHING_CHANGES = Words("这样做不会有任何改动。", "Nothing would change.")


async def propose(
    bench: Bench, actor: Actor, earlier: Sequence[Proposal], call: GateCall, skip: frozenset[str], draws: Draws | None
) -> Proposal:
    """See `Gate.propose`."""
    ran, drawn = await retried(lambda: _dry_run(bench, actor, earlier, call, skip, draws))
    if not ran.changes:
        raise DomainError("nothing_changes", NOTHING_CHANGES)
    return Proposal(call=call, draws=drawn, ran=ran, depends_on=_built_on(earlier, ran), skip=skip)


async def _dry_run(
    bench: Bench, actor: Actor, earlier: Sequence[Proposal], call: GateCall, skip: frozenset[str], draws: Draws | None
) -> tuple[Ran, Draws]:
    wait = bench.settings.propose_lock_ms
    async with bench.database.dry_run(user_id=actor.user_id, lock_timeout_ms=wait) as connection:
        symbols: dict[RowKey, str] = {}
        for position, one in enumerate(earlier):
            again = Conditions(draws=one.draws.again(), symbols=symbols, position=position, skip=one.skip)
            symbols |= (await bench.run(connection, actor, one.call, again)).normal.symbols
        drawn = draws.again() if draws else bench.fresh_draws()
        under = Conditions(draws=drawn, symbols=symbols, position=len(earlier), skip=skip)
        return await bench.run(connection, actor, call, under), drawn


def _built_on(earlier: Sequence[Proposal], ran: Ran) -> tuple[str, ...]:
    """Earlier calls whose rows this one touches or refers to."""
    keys = {(change.table, change.key) for change in ran.changes}
    values = {
        str(value) for change in ran.changes for row in (change.before, change.after) if row for value in row.values()
    }
    found: list[str] = []
    for one in earlier:
        touched = {(change.table, change.key) for change in one.ran.changes}
        made = {str(part) for change in one.ran.changes if change.op == "insert" for part in change.key}
        if keys & touched or made & values:
            found.append(one.call.id)
    return tuple(found)
