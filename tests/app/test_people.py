"""Operators see and change what a user may do."""

from datetime import UTC, datetime

import pytest

from agents.errors import Forbidden
from app.errors import CommandError
from app.people import UserChange, described, show_or_change
from gateway.auth import Authority
from gateway.tokens import Claims
from stores import users
from stores.database import Database

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 12, 8, 9, 30, tzinfo=UTC)


async def test_looking_at_somebody_unknown_makes_no_row(store: Database) -> None:
    with pytest.raises(CommandError, match="'alice'"):
        await show_or_change(store, "alice", UserChange(), NOW)

    async with store.read() as connection:
        assert await users.get(connection, "alice") is None


async def test_a_change_is_kept_and_shown(store: Database) -> None:
    await users.get_or_create(store, "alice", NOW)

    changed = await show_or_change(
        store, "alice", UserChange(active=False, scopes=("operator",), assistants=("teaching", "scheduling")), NOW
    )

    assert described(changed) == (
        "alice: deactivated; scopes: operator; assistants: scheduling, teaching; since 2026-12-08 09:30 UTC"
    )
    assert await show_or_change(store, "alice", UserChange(), NOW) == changed


async def test_limits_can_be_taken_away_again(store: Database) -> None:
    await show_or_change(store, "alice", UserChange(active=False, scopes=(), assistants=("teaching",)), NOW)

    user = await show_or_change(store, "alice", UserChange(active=True, all_scopes=True, all_assistants=True), NOW)

    assert described(user).startswith("alice: active; scopes: as the token says; assistants: as the token says;")


async def test_somebody_can_be_kept_out_before_they_come(store: Database) -> None:
    await show_or_change(store, "mallory", UserChange(active=False), NOW)

    claims = Claims(user_id="mallory", scopes=None, assistants=None)
    with pytest.raises(Forbidden):
        await Authority(store, clock=lambda: NOW, zone="UTC").person(claims, None)


async def test_an_empty_list_allows_nothing(store: Database) -> None:
    user = await show_or_change(store, "alice", UserChange(scopes=()), NOW)

    assert user.scopes == []
    assert "scopes: none" in described(user)
