"""Proposing: a dry run of the same code that would execute, always rolled back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stores.changes import Change, RowKey
from stores.tables import Base
from toolsets.errors import DomainError
from toolsets.gate.bench import Bench, retried
from toolsets.gate.calls import Actor, Conditions, Draws, GateCall, Proposal, Ran
from toolsets.words import Words

NOTHING_CHANGES = Words("这样做不会有任何改动。", "Nothing would change.")


async def propose(
    bench: Bench, actor: Actor, earlier: Sequence[Proposal], call: GateCall, under: Conditions
) -> Proposal:
    """See `Gate.propose`."""
    ran, drawn = await retried(lambda: _dry_run(bench, actor, earlier, call, under))
    if not ran.changes:
        raise DomainError("nothing_changes", NOTHING_CHANGES)
    built_on = _built_on(earlier, ran)
    return Proposal(call=call, draws=drawn, ran=ran, depends_on=built_on, skip=under.skip, position=under.position)


async def _dry_run(
    bench: Bench, actor: Actor, earlier: Sequence[Proposal], call: GateCall, under: Conditions
) -> tuple[Ran, Draws]:
    wait = bench.settings.propose_lock_ms
    async with bench.database.dry_run(user_id=actor.user_id, lock_timeout_ms=wait) as connection:
        symbols: dict[RowKey, str] = {}
        for one in earlier:
            again = Conditions(draws=one.draws.again(), symbols=symbols, position=one.position, skip=one.skip)
            symbols |= (await bench.run(connection, actor, one.call, again)).normal.symbols
        drawn = under.draws.again()
        return await bench.run(connection, actor, call, replace(under, draws=drawn, symbols=symbols)), drawn


def _built_on(earlier: Sequence[Proposal], ran: Ran) -> tuple[str, ...]:
    """Earlier calls whose rows this one touches or refers to."""
    keys = {(change.table, change.key) for change in ran.changes}
    values = {str(value) for change in ran.changes for row in _rows(change) for value in row.values()}
    referred = {pair for change in ran.changes for pair in _referred(change)}
    found: list[str] = []
    for one in earlier:
        touched = {(change.table, change.key) for change in one.ran.changes}
        inserts = [change for change in one.ran.changes if change.op == "insert"]
        drawn = {str(part) for change in inserts if change.made is None for part in change.key}
        # A number that the database made says nothing by itself; it has to stand where its table is referred to.
        numbered = {(change.table, part) for change in inserts if change.made is not None for part in change.key}
        if keys & touched or drawn & values or numbered & referred:
            found.append(one.call.id)
    return tuple(found)


def _referred(change: Change) -> Iterator[tuple[str, Any]]:
    """Tables and values that the change's foreign keys point to."""
    for column in Base.metadata.tables[change.table].columns:
        for foreign_key in column.foreign_keys:
            yield from ((foreign_key.column.table.name, row.get(column.name)) for row in _rows(change))


def _rows(change: Change) -> list[Mapping[str, Any]]:
    return [row for row in (change.before, change.after) if row]
