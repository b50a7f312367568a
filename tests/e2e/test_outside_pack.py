"""A pack that the repository knows nothing of brings tools, tables, an assistant, demo data, a view and scenes."""

import pytest

from tests.e2e.house import House
from tests.e2e.stored import assert_accepted, count
from tests.e2e.visitor import Visitor, of_kind, said_last, text_in, visiting

pytestmark = pytest.mark.anyio


async def test_a_setting_names_it_and_all_of_it_is_there(house: House, ann: Visitor) -> None:
    assistants = await ann.get("/api/assistants")
    toolsets = await ann.get("/api/toolsets")
    assert "gardening" in {one["name"] for one in assistants["items"]}
    tools = {tool["name"]: tool["effect"] for one in toolsets["items"] for tool in one["tools"]}
    assert (tools["look"], tools["plant"], tools["water"]) == ("read", "write", "write")
    assert await count(house.database_url, "alembic_version", version_num="garden_0001") == 1

    assert await house.run("demo", "--user", "ann").wait() == 0
    assert await ann.plants() == {"moss": 0}

    asked = await ann.say("c", "water moss")
    card = of_kind(asked, "data-approval")[0]["data"]
    assert (card["title"], card["rows"][0]["before"], card["rows"][0]["after"]) == ("Water", "watered: 0", "watered: 1")
    assert await ann.plants() == {"moss": 0}
    await ann.approve(card["approval_id"])
    assert said_last(await ann.settled("c")) == "moss: ok"
    assert await ann.plants() == {"moss": 1}

    text_in(await ann.say("c", "/undo"))
    assert text_in(await ann.say("c", "yes")).startswith("Undone")
    assert await ann.plants() == {"moss": 0}
    await assert_accepted(house.database_url, "ann", "c")


async def test_an_installed_distribution_brings_it_by_its_entry_point(house: House) -> None:
    about = house.folder / "packs" / "garden-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[placet.packs]\ngarden = garden:build_pack\n")
    house.settings = {"PLACET_PACKS": ""}

    async with visiting(await house.start(), "ann") as ann:
        asked = await ann.say("c", "grow basil")
        await ann.approve(of_kind(asked, "data-approval")[0]["data"]["approval_id"])
        assert said_last(await ann.settled("c")) == "basil: ok"
        assert await ann.plants() == {"basil": 0}


async def test_without_it_nothing_of_it_is_there(house: House) -> None:
    house.settings = {"PLACET_PACKS": ""}

    async with visiting(await house.start(), "ann") as ann:
        assert "gardening" not in {one["name"] for one in (await ann.get("/api/assistants"))["items"]}
        assert (await ann.http.get("/api/packs/garden/views/plants")).status_code == 404
        refused = await ann.http.post("/api/conversation", json=ann.body("c", "grow basil"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid")


WRONG = {
    "PLACET_LEASE_S": "soon",
    "PLACET_PACKS": "nowhere:pack",
    "PLACET_DATABASE_URL": "mysql://here",
    "PLACET_JWT_SECRET": "short",
    "PLACET_MODEL": "unheard-of:model",
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_setting_stops_the_start_with_one_sentence_that_names_it(sqlite_house: House, name: str) -> None:
    sqlite_house.settings = {name: WRONG[name]}
    started = sqlite_house.run("serve", "--port", "1")

    assert await started.wait() == 2
    assert started.log.startswith(name)
    assert started.log.count("\n") == 1
