"""The inverse of a change set, and applying it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Column, Connection, MetaData, Table, and_, null
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.changes.change import Change, Key, Op, Row, change_order
from stores.changes.difference import Difference
from stores.changes.images import Note, fold, read_rows
from stores.changes.marks import changed_columns, compared_columns, differs, is_secret, moves_by_itself, plain_type
from stores.changes.normal import irreversible
from stores.changes.obstacles import obstacles
from stores.changes.values import canonical
from stores.errors import Irreversible, RowsMovedOn
from stores.tables import Base

OPPOSITE: Mapping[Op, Op] = {"insert": "delete", "update": "update", "delete": "insert"}


def inverse(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes that undo these, for showing: `before` and `after` exchanged, sorted like any change set."""
    turned = (
        Change(
            table=change.table,
            key=change.key,
            op=OPPOSITE[change.op],
            before=change.after,
            after=change.before,
            version=change.version,
            chosen=change.chosen,
        )
        for change in changes
    )
    return tuple(sorted(turned, key=change_order))


async def revert(
    connection: AsyncConnection,
    changes: Sequence[Change],
    *,
    metadata: MetaData = Base.metadata,
    secret_key: bytes = b"",
) -> tuple[Change, ...]:
    """Undo the changes in the running transaction and return those that this made: they can be reverted in turn.

    Every row must still be as the changes left it: of an updated row the changed columns, of an inserted row every
    compared column, and a deleted one absent. Changed columns go back, the version counts on. What isn't compared goes
    back where nobody moved it since.

    Raises RowsMovedOn when rows changed or others stand in the way, Irreversible for secrets. Nothing is written then.
    """
    if irreversible(changes, metadata=metadata):
        raise Irreversible("a secret can't be brought back")
    steps = sorted(inverse(changes), key=lambda step: _apply_order(step, metadata))
    return await connection.run_sync(lambda sync: Revert(sync, metadata, secret_key).of(steps))


class Revert:
    """One revert on one connection."""

    def __init__(self, connection: Connection, metadata: MetaData, secret_key: bytes) -> None:
        self._connection = connection
        self._metadata = metadata
        self._secret_key = secret_key

    def of(self, steps: Sequence[Change]) -> tuple[Change, ...]:
        current = self._read(steps, lock=True)
        moved = [gap for step in steps for gap in _moved(self._table(step), step, current[step.table].get(step.key))]
        if moved:
            raise RowsMovedOn(tuple(moved))
        with self._connection.begin_nested():
            self._apply(steps, current)
        return self._made(steps, current, self._read(steps, lock=False))

    def _apply(self, steps: Sequence[Change], current: Mapping[str, Mapping[Key, Row]]) -> None:
        # Constraints say what has to go first (a slot must be free before its old row returns), so whatever is
        # possible is done, until everything is done or nothing more is possible.
        waiting = list(steps)
        while waiting:
            blocked = [step for step in waiting if not self._applied(step, current[step.table].get(step.key))]
            if len(blocked) == len(waiting):
                raise RowsMovedOn(obstacles(self._connection, blocked, self._metadata))
            waiting = blocked

    def _applied(self, step: Change, found: Row | None) -> bool:
        table = self._table(step)
        here = and_(*(column == part for column, part in zip(table.primary_key, step.key, strict=True)))
        try:
            with self._connection.begin_nested():
                if step.op == "insert":
                    self._connection.execute(table.insert().values(dict(_inserted(table, step))))
                elif step.op == "delete":
                    self._connection.execute(table.delete().where(here))
                else:
                    assert found is not None
                    self._connection.execute(table.update().where(here).values(dict(_updated(table, step, found))))
        except IntegrityError:
            return False
        return True

    def _read(self, steps: Sequence[Change], *, lock: bool) -> dict[str, dict[Key, Row]]:
        keys: dict[str, list[Key]] = {}
        for step in steps:
            keys.setdefault(step.table, []).append(step.key)
        return {
            name: read_rows(
                self._connection, self._metadata.tables[name], keys[name], secret_key=self._secret_key, lock=lock
            )
            for name in sorted(keys)
        }

    def _made(
        self,
        steps: Sequence[Change],
        first: Mapping[str, Mapping[Key, Row]],
        last: Mapping[str, Mapping[Key, Row]],
    ) -> tuple[Change, ...]:
        notes: dict[str, dict[Key, Note]] = {name: {} for name in first}
        for step in steps:
            notes[step.table][step.key] = Note(version=step.version, chosen=step.chosen)
        found = [
            change
            for name in first
            for change in fold(self._metadata.tables[name], first[name], last[name], notes[name])
        ]
        return tuple(sorted(found, key=change_order))

    def _table(self, step: Change) -> Table:
        return self._metadata.tables[step.table]


def _apply_order(step: Change, metadata: MetaData) -> tuple[int, int]:
    """Parents return first, then updates, and children go first."""
    place = [table.fullname for table in metadata.sorted_tables].index(step.table)
    return {"insert": (0, place), "update": (1, -place), "delete": (2, -place)}[step.op]


def _moved(table: Table, step: Change, found: Row | None) -> Iterator[Difference]:
    """What keeps this step from being the inverse of what was done."""
    if step.before is None or found is None:
        if (step.before is None) != (found is None):
            states = ("absent", "present") if step.before is None else ("present", "absent")
            yield Difference(table=step.table, key=step.key, column=None, approved=states[0], found=states[1])
        return
    columns = changed_columns(table, step) if step.op == "update" else compared_columns(table, step)
    for column in columns:
        name = column.name
        if name in step.before and canonical(found[name]) != canonical(step.before[name]):
            yield Difference(table=step.table, key=step.key, column=name, approved=step.before[name], found=found[name])


def _inserted(table: Table, step: Change) -> Iterator[tuple[str, Any]]:
    assert step.after is not None
    for column in table.columns:
        if column.name in step.after and column.computed is None:
            yield column.name, _written(column, step.after[column.name])


def _updated(table: Table, step: Change, found: Row) -> Iterator[tuple[str, Any]]:
    assert step.before is not None
    assert step.after is not None
    compared = {column.name for column in changed_columns(table, step)}
    for column in table.columns:
        name = column.name
        if name == step.version:
            if isinstance(found[name], int):
                yield name, found[name] + 1
        elif name in compared or _can_go_back(column, step, found[name]):
            yield name, _written(column, step.after[name])


def _can_go_back(column: Column[Any], step: Change, found: Any) -> bool:
    """Of a column that isn't compared: the changes moved it, and nobody has since."""
    if moves_by_itself(column) or column.computed is not None or not differs(step, column.name):
        return False
    assert step.before is not None
    return canonical(found) == canonical(step.before[column.name])


def _written(column: Column[Any], value: Any) -> Any:
    if is_secret(column):
        return None
    if value is None and isinstance(plain_type(column), JSON):
        return null() if column.nullable else JSON.NULL
    return value
