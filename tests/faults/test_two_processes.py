"""Two servers over one database: what one of them began, the other may end."""

import asyncio

import pytest

from tests.e2e.house import House
from tests.e2e.stored import assert_accepted, count, turns
from tests.e2e.visitor import Visitor, of_kind, said_last

pytestmark = pytest.mark.anyio

ROUNDS = 50


async def test_what_one_process_proposed_another_may_approve(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    asked = await ann.say("c", "grow basil")
    (card,) = await elsewhere.pending("c")
    assert await ann.plants() == {}

    await elsewhere.approve(card["approval_id"])
    told = await ann.settled("c")

    assert await ann.plants() == {"basil": 0}
    assert of_kind(asked, "data-approval")[0]["data"]["approval_id"] == card["approval_id"]
    assert said_last(told) == "basil: ok"
    assert told == await elsewhere.conversation("c")
    assert (await ann.get(f"/api/approvals/{card['approval_id']}"))["status"] == "executed"
    await assert_accepted(house.database_url, "ann", "c")


async def test_three_approvals_decided_by_different_processes_go_on_without_a_reader(
    house: House, ann: Visitor, elsewhere: Visitor
) -> None:
    await ann.say("c", "grow basil, mint, sage")
    basil, mint, sage = await ann.pending("c")

    await ann.approve(basil["approval_id"])
    await elsewhere.approve(mint["approval_id"])
    assert await ann.plants() == {}
    await ann.approve(sage["approval_id"])
    told = await elsewhere.settled("c")

    assert await ann.plants() == {"basil": 0, "mint": 0, "sage": 0}
    assert said_last(told) == "basil: ok; mint: ok; sage: ok"
    assert await count(house.database_url, "ledger", tool="plant") == 3
    await assert_accepted(house.database_url, "ann", "c")


@pytest.mark.timeout(300)
async def test_the_same_decision_in_the_same_instant_writes_once(
    house: House, ann: Visitor, elsewhere: Visitor
) -> None:
    await ann.say("c", "grow basil")
    await ann.approve((await ann.pending("c"))[0]["approval_id"])
    await ann.settled("c")

    for number in range(1, ROUNDS + 1):
        await ann.say("c", "water basil")
        (card,) = await ann.pending("c")
        answers = await asyncio.gather(ann.decide(card["approval_id"]), elsewhere.decide(card["approval_id"]))
        assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
        await ann.settled("c")
        assert await ann.plants() == {"basil": number}

    assert await count(house.database_url, "ledger", tool="water") == ROUNDS
    assert await count(house.database_url, "changes", tool="water") == ROUNDS
    assert {turn["status"] for turn in await turns(house.database_url, "ann", "c")} == {"completed"}


async def test_of_a_yes_and_a_no_in_the_same_instant_one_counts(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    for number in range(10):
        name = f"herb-{number}"
        await ann.say("c", f"grow {name}")
        (card,) = await ann.pending("c")
        yes, no = await asyncio.gather(
            ann.decide(card["approval_id"], "approve"), elsewhere.decide(card["approval_id"], "deny")
        )
        await ann.settled("c")

        late = no if yes.status_code == 200 else yes
        assert sorted([yes.status_code, no.status_code]) == [200, 409]
        assert (name in await ann.plants()) == (yes.status_code == 200)
        assert late.json()["error"]["code"] == "approval_settled"
        settled = {"denied"} if late is yes else {"approved", "executed"}
        assert late.json()["error"]["details"]["status"] in settled
    await assert_accepted(house.database_url, "ann", "c")


async def test_two_who_decide_the_last_two_approvals_at_once_do_not_wait_for_each_other(
    house: House, ann: Visitor, elsewhere: Visitor
) -> None:
    for number in range(10):
        first, second = f"left-{number}", f"right-{number}"
        await ann.say(f"c{number}", f"grow {first}, {second}")
        one, two = await ann.pending(f"c{number}")
        answers = await asyncio.gather(ann.decide(one["approval_id"]), elsewhere.decide(two["approval_id"]))
        assert [answer.status_code for answer in answers] == [200, 200]

        told = await ann.settled(f"c{number}")

        assert {first, second} <= set(await ann.plants())
        assert said_last(told) == f"{first}: ok; {second}: ok"
    assert await count(house.database_url, "ledger", tool="plant") == 20
