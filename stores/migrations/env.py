"""Runs the versions on the connection that `stores.migrate` has opened, inside its transaction."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import TypeDecorator

from stores.tables import Base


def render_item(kind: str, item: object, _autogen: AutogenContext) -> str | Literal[False]:
    """A column type of ours as the type that the database sees: a version must not change when our code does."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"  # pyright: ignore[reportUnknownMemberType] - whatever it decorates
    return False


attributes = context.config.attributes

context.configure(
    connection=attributes["connection"],
    target_metadata=attributes.get("metadata", Base.metadata),
    compare_type=True,
    compare_server_default=True,
    render_as_batch=True,  # SQLite alters a table by building it anew
    render_item=render_item,
)
context.run_migrations()
