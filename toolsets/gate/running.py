"""One run of a tool's function: recorded, timed, its errors made domain errors."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.changes import constraint_of, normal_form, recording
from stores.tables import Base
from toolsets.arguments import as_json
from toolsets.cards import CardInput
from toolsets.errors import DomainError
from toolsets.gate.calls import Actor, Conditions, GateCall, Ran, deps_for
from toolsets.gate.shown import complete_card
from toolsets.words import Words

T = TypeVar("T")


async def run_recorded(
    connection: AsyncConnection, actor: Actor, call: GateCall, under: Conditions, *, secret_key: bytes = b""
) -> Ran:
    """Run a write tool's function once on a transaction that has begun, in a savepoint of its own.

    Raises DomainError (also for a constraint that the database holds), or whatever the function raises.
    """
    arguments = call.spec.arguments.validate_python(dict(call.arguments))
    try:
        async with recording(connection, secret_key=secret_key) as recorded:
            deps = deps_for(actor, call, recorded.session, under)
            result = as_json(await call.spec.declaration.function(deps, **arguments))
            changes = await recorded.finish()
            given = CardInput(deps=deps, arguments=call.arguments, changes=changes, result=result)
            card = complete_card(call.spec.declaration.card, call.spec.title, given)
    except IntegrityError as error:
        raise _refused_by(error) from error
    normal = normal_form(changes, under.symbols, call=under.position)
    return Ran(result=result, changes=changes, normal=normal, card=card)


def _refused_by(error: IntegrityError) -> DomainError:
    constraint = constraint_of(error, Base.metadata)
    kind = constraint.kind if constraint else "constraint"
    details: Mapping[str, Any] = {"table": constraint.table, "columns": list(constraint.columns)} if constraint else {}
    words = {
        "unique": Words("这里已经有一个同样的了。", "There is one like it already."),
        "foreign_key": Words(
            "它用到的东西不存在，或者还有别的东西在用它。", "What it refers to is missing, or something still uses it."
        ),
    }.get(kind, Words("数据库的规则不允许。", "A rule of the database doesn't allow it."))
    return DomainError(f"{kind}_violated", words, **details)


async def within(seconds: float, running: Awaitable[T], connection: AsyncConnection | None = None) -> T:
    """The result, or TimeoutError after `seconds`; the work has ended in either case.

    Cancelling a statement in SQLite would keep the writer's lock until garbage collection, so it is interrupted.
    """
    task = asyncio.ensure_future(running)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        return task.result()
    if connection is not None and connection.dialect.name == "sqlite":
        raw = await connection.get_raw_connection()
        # The driver's own connection, which SQLAlchemy types as Any: aiosqlite has `interrupt`.
        await raw.driver_connection.interrupt()  # pyright: ignore[reportOptionalMemberAccess]
        await asyncio.wait({task}, timeout=1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    raise TimeoutError
