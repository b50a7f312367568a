"""From table rows to frozen values and back."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Column, Row, Table

from stores.tables import Base

T = TypeVar("T")


def table_of(mapped: type[Base]) -> Table:
    """The table of a mapped class, for Core statements."""
    table = mapped.__table__
    assert isinstance(table, Table)
    return table


@cache
def columns(mapped: type[Base], value: type[Any]) -> Sequence[Column[Any]]:
    """The columns that a dataclass has fields for, in its order."""
    table = table_of(mapped)
    return [table.c[field.name] for field in fields(value)]


def read(value: type[T], row: Row[Any]) -> T:
    """One row, selected by `columns`, as the dataclass."""
    return value(*row)
