"""The pack's toolset, to which the tool modules add themselves."""

from toolsets.scheduling.phrases import SCHEDULE
from toolsets.scheduling.views import live_view
from toolsets.toolset import Toolset
from toolsets.words import Words

schedule = Toolset(
    "schedule",
    title=Words(zh="日程与课表", en="Timetable"),
    keywords=SCHEDULE,
    live_view=live_view,
)
