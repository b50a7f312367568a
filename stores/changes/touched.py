"""Which rows a recorded session touches: mapper events say which, the database says what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Table, event
from sqlalchemy.orm import InstanceState, Mapper, Session
from sqlalchemy.types import TypeDecorator

from stores.changes.change import Change, Key, Row, change_order
from stores.changes.guard import Guard
from stores.changes.images import Note, fold, read_rows
from stores.changes.marks import fills_itself, generated_column
from stores.errors import UnrecordableValue

State = InstanceState[Any]


@dataclass(frozen=True, kw_only=True)
class Pending:
    """An insert whose key isn't known yet."""

    tables: tuple[Table, ...]
    chosen: frozenset[str]


class Touched:
    """The touched rows of one call, each with the image it had at first touch.

    Rows are read with a lock, so that what is recorded as "before" is what the change really goes over.
    """

    def __init__(self, secret_key: bytes) -> None:
        self._secret_key = secret_key
        self._keys: dict[Table, set[Key]] = {}
        self._first: dict[Table, dict[Key, Row]] = {}
        self._made: dict[Table, dict[Key, int]] = {}
        self._chosen: dict[tuple[Table, Key], frozenset[str]] = {}
        self._versions: dict[Table, str] = {}
        self._pending: dict[State, Pending] = {}

    def __contains__(self, table: Table) -> bool:
        return table in self._keys

    def tables(self) -> Iterable[Table]:
        return self._keys.keys()

    def changes(self, connection: Connection) -> tuple[Change, ...]:
        """First against last images, sorted. Reads every touched table once."""
        found: list[Change] = []
        for table, keys in self._keys.items():
            last = read_rows(connection, table, keys, secret_key=self._secret_key)
            found += fold(table, self._first.get(table, {}), last, self._notes(table))
        return tuple(sorted(found, key=change_order))

    def before_insert(self, mapper: Mapper[Any], connection: Connection, state: State) -> None:
        unmade: list[Table] = []
        # None isn't written where there is a default.
        chosen = frozenset(_chosen(mapper, [name for name, value in state.dict.items() if value is not None]))
        for table in self._tables(mapper):
            key = _key(mapper, table, state.dict)
            if None in key:
                unmade.append(table)
            else:
                self._touch(connection, table, key)
                self._choose(table, key, chosen)
        if unmade:
            self._pending[state] = Pending(tables=tuple(unmade), chosen=chosen)

    def after_insert(self, mapper: Mapper[Any], state: State) -> None:
        pending = self._pending.pop(state, None)
        for table in pending.tables if pending else ():
            assert pending is not None
            key = _key(mapper, table, state.dict)
            self._keys[table].add(key)
            self._choose(table, key, pending.chosen)
            if generated_column(table) is not None:
                made = self._made.setdefault(table, {})
                made.setdefault(key, len(made) + 1)

    def before_change(self, mapper: Mapper[Any], connection: Connection, state: State) -> None:
        """Before an update or a deletion. A row whose key changes is touched under both keys."""
        assert state.identity is not None
        properties = (mapper.get_property_by_column(column).key for column in mapper.primary_key)
        identity = dict(zip(properties, state.identity, strict=True))
        set_now = [name for name in state.dict if name in mapper.column_attrs and state.attrs[name].history.added]
        chosen = frozenset(_chosen(mapper, set_now))
        for table in self._tables(mapper):
            for values in (identity, {**identity, **{k: state.dict[k] for k in identity if k in state.dict}}):
                key = _key(mapper, table, values)
                self._touch(connection, table, key)
                self._choose(table, key, chosen)

    def _tables(self, mapper: Mapper[Any]) -> list[Table]:
        tables = [table for table in mapper.tables if isinstance(table, Table)]  # pyright: ignore[reportUnnecessaryIsInstance] - a mapped join isn't one
        for table in tables:
            self._keys.setdefault(table, set())
            if mapper.version_id_col is not None and mapper.version_id_col.table is table:
                self._versions[table] = mapper.version_id_col.name
        return tables

    def _touch(self, connection: Connection, table: Table, key: Key) -> None:
        if key not in self._keys[table]:
            self._keys[table].add(key)
            rows = read_rows(connection, table, [key], secret_key=self._secret_key, lock=True)
            self._first.setdefault(table, {}).update(rows)

    def _choose(self, table: Table, key: Key, names: frozenset[str]) -> None:
        self._chosen[table, key] = self._chosen.get((table, key), frozenset()) | names

    def _notes(self, table: Table) -> Mapping[Key, Note]:
        return {
            key: Note(
                version=self._versions.get(table),
                made=self._made.get(table, {}).get(key),
                chosen=tuple(sorted(self._chosen[table, key] & {column.name for column in table.columns})),
            )
            for key in self._keys[table]
        }


class RecordedSession(Session):
    """A session whose flushes are told to `touched` and let through by `guard`."""

    def __init__(self, *arguments: Any, touched: Touched, guard: Guard, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.touched = touched
        self.guard = guard

    def flush(self, objects: Any = None) -> None:
        with self.guard.unit_of_work():
            super().flush(objects)


# Listening on every mapper once, and asking whose session it is: to listen only while a call is recorded would change
# the listeners under another session's flush.
@event.listens_for(Mapper, "before_insert", raw=True)
def _before_insert(mapper: Mapper[Any], connection: Connection, state: State) -> None:
    if isinstance(state.session, RecordedSession):
        state.session.touched.before_insert(mapper, connection, state)


@event.listens_for(Mapper, "after_insert", raw=True)
def _after_insert(mapper: Mapper[Any], _connection: Connection, state: State) -> None:
    if isinstance(state.session, RecordedSession):
        state.session.touched.after_insert(mapper, state)


@event.listens_for(Mapper, "before_update", raw=True)
@event.listens_for(Mapper, "before_delete", raw=True)
def _before_change(mapper: Mapper[Any], connection: Connection, state: State) -> None:
    if isinstance(state.session, RecordedSession):
        state.session.touched.before_change(mapper, connection, state)


def _key(mapper: Mapper[Any], table: Table, values: Mapping[str, Any]) -> Key:
    """The row's key by the values of its object; None where there is none yet."""
    key = tuple(values.get(mapper.get_property_by_column(column).key) for column in table.primary_key)
    for column, part in zip(table.primary_key, key, strict=True):
        if part is not None and not _is_exact(column, part):
            raise UnrecordableValue(f"a key of another type than {column.table.fullname}.{column.name}")
    return key


def _is_exact(column: Column[Any], part: Any) -> bool:
    # A database that converts "5" to 5 would hide the row from the key it was touched under.
    if isinstance(column.type, TypeDecorator):
        return True
    try:
        return isinstance(part, column.type.python_type)
    except NotImplementedError:
        return True


def _chosen(mapper: Mapper[Any], names: Iterable[str]) -> Iterable[str]:
    """Columns that fill themselves, among the attributes that the call set."""
    for name in names:
        if name in mapper.column_attrs:
            for column in mapper.column_attrs[name].columns:
                if isinstance(column, Column) and fills_itself(column):
                    yield column.name
