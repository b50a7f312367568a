"""The scheduling pack: a timetable, and study tasks to arrange around it."""

from importlib.resources import files

from toolsets.pack import Assistant, Pack
from toolsets.scheduling import tools_create, tools_read, tools_write
from toolsets.scheduling.demo import demo
from toolsets.scheduling.scenes import SCENES
from toolsets.scheduling.tables import TABLES
from toolsets.scheduling.toolset import schedule
from toolsets.scheduling.views import overview_view, week_view
from toolsets.words import Words

__all__ = ["build_pack"]

TOOLS = (tools_read, tools_write, tools_create)
"""Importing these modules declares the tools, in this order."""


def build_pack() -> Pack:
    """The pack, as the entry point `placet.packs` names it."""
    return Pack(
        name="scheduling",
        toolsets=(schedule,),
        assistants=(_assistant(),),
        tables=TABLES,
        demo=demo,
        views={"week": week_view, "overview": overview_view},
        scenes=SCENES,
    )


def _assistant() -> Assistant:
    return Assistant(
        name="scheduling",
        title=Words(zh="日程", en="Timetable"),
        toolsets=(schedule.name, "planning"),
        instructions=Words(zh=_text("instructions.zh.md"), en=_text("instructions.en.md")),
        greeting=Words(
            zh="说说你想怎么安排：哪门课、哪天、要复习什么。",
            en="Say what to arrange: which task, which day, what to revise.",
        ),
        suggestions=(
            Words(zh="帮我把线代复习安排到周二下午", en="Put linear algebra revision on Tuesday afternoon"),
            Words(zh="下周哪天有空？", en="When am I free next week?"),
            Words(zh="帮我安排下周的复习", en="Plan my revision for next week"),
            Words(zh="把社团例会挪到下周四晚上", en="Move the club meeting to next Thursday evening"),
        ),
    )


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
