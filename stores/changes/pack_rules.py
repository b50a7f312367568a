"""The rules that a pack's tables keep, so that nothing which a call writes escapes the recorder."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import JSON, Column, Integer, Table, inspect
from sqlalchemy.orm import DeclarativeBase, Mapper

from stores.changes.marks import plain_type
from stores.columns import JsonText


def check_pack_tables(tables: Iterable[type[DeclarativeBase]]) -> list[str]:
    """One sentence for every rule that a table breaks; empty when all are kept."""
    mappers = [inspect(table) for table in tables]
    return [sentence for mapper in mappers for sentence in _broken(mapper)] + list(_shared_types(mappers))


def _broken(mapper: Mapper[Any]) -> Iterator[str]:
    table = mapper.local_table
    assert isinstance(table, Table)
    if "user_id" not in table.columns:
        yield f"{table.name} has no column user_id: every row belongs to a user"
    if mapper.version_id_col is None:
        yield f"{table.name} has no version_id_col: set it in __mapper_args__"
    elif not isinstance(mapper.version_id_col.type, Integer):
        yield f"{table.name} counts its versions in a column that isn't an integer"
    yield from _broken_keys(table)
    yield from _broken_constraints(table)
    for relation in mapper.relationships:
        if relation.secondary is not None:
            yield f"{table.name}.{relation.key} uses secondary: map the association as a class"
        if relation.post_update:
            yield f"{table.name}.{relation.key} uses post_update: its updates can't be recorded"


def _broken_keys(table: Table) -> Iterator[str]:
    column = table.autoincrement_column
    if column is not None and not table.dialect_options["sqlite"]["autoincrement"]:
        yield f"{table.name} would use a deleted row's key again on SQLite: set sqlite_autoincrement=True"
    if column is not None and column.identity is not None and column.identity.always:
        yield f"{table.name}.{column.name} is always generated: a deleted row couldn't return under its key"


def _broken_constraints(table: Table) -> Iterator[str]:
    for constraint in table.foreign_key_constraints:
        if constraint.ondelete or constraint.onupdate:
            columns = ", ".join(constraint.column_keys)
            yield f"{table.name} lets the database change rows (ON DELETE or ON UPDATE of {columns}): use a cascade"
    for constraint in table.constraints:
        if constraint.deferrable or constraint.initially:
            yield f"{table.name} has a deferrable constraint: a dry run would miss it"


def _shared_types(mappers: Iterable[Mapper[Any]]) -> Iterator[str]:
    """A mutable type tracks all columns that hold the same instance, of whatever kind their values are."""
    seen: dict[int, Column[Any]] = {}
    for mapper in mappers:
        mapped_by_annotation = {id(kind) for kind in mapper.registry.type_annotation_map.values()}
        for column in mapper.local_table.columns:
            if isinstance(column, Column) and _is_json(column):
                first = seen.setdefault(id(column.type), column)
                if first is not column and id(column.type) not in mapped_by_annotation:
                    yield f"{column} and {first} share one JSON type: make a new instance for each column"


def _is_json(column: Column[Any]) -> bool:
    return isinstance(column.type, JsonText) or isinstance(plain_type(column), JSON)
