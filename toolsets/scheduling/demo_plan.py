"""What the demo is made of: courses, task classes, items and events, named in both languages."""

from dataclasses import dataclass

from toolsets.scheduling.state import Strategy
from toolsets.words import Words

CLOCK = (
    ("08:00", "08:45"),
    ("08:55", "09:40"),
    ("10:00", "10:45"),
    ("10:55", "11:40"),
    ("14:00", "14:45"),
    ("14:55", "15:40"),
    ("16:00", "16:45"),
    ("16:55", "17:40"),
    ("19:00", "19:45"),
    ("19:55", "20:40"),
    ("20:50", "21:35"),
    ("21:45", "22:30"),
)
TERM = Words(zh="本学期", en="This term")
WEEK_NOW = 14
WEEKS = 20


@dataclass(frozen=True, kw_only=True)
class DemoCourse:
    """A weekly course: sessions are (weekday, first slot, last slot)."""

    name: Words
    location: Words
    sessions: tuple[tuple[int, int, int], ...]
    easy: bool = False


@dataclass(frozen=True, kw_only=True)
class DemoClass:
    """A task class with its pending items: (name, slots)."""

    name: Words
    strategy: Strategy
    total_slots: int
    filler: bool
    excluded: tuple[int, ...]
    items: tuple[tuple[Words, int], ...]


@dataclass(frozen=True, kw_only=True)
class DemoPlaced:
    """Something that has its place next week, with the class it belongs to (its number in `CLASSES`), if any."""

    name: Words
    weekday: int
    start: int
    end: int
    class_number: int | None = None
    guest: bool = False


COURSES = (
    DemoCourse(
        name=Words("高等数学", "Calculus"), location=Words("教一 203", "Main 203"), sessions=((1, 1, 2), (3, 1, 2))
    ),
    DemoCourse(
        name=Words("线性代数", "Linear algebra"),
        location=Words("教二 110", "East 110"),
        sessions=((1, 3, 4), (4, 1, 2)),
    ),
    DemoCourse(
        name=Words("大学物理", "Physics"), location=Words("理 B401", "Science B401"), sessions=((2, 3, 4), (4, 3, 4))
    ),
    DemoCourse(
        name=Words("大学英语", "College English"),
        location=Words("外语 212", "West 212"),
        sessions=((3, 3, 4), (5, 3, 4)),
    ),
    DemoCourse(
        name=Words("数据结构", "Data structures"),
        location=Words("教三 305", "North 305"),
        sessions=((2, 5, 6), (5, 1, 2)),
    ),
    DemoCourse(
        name=Words("概率论", "Probability"), location=Words("教二 208", "East 208"), sessions=((1, 7, 8), (3, 5, 6))
    ),
    DemoCourse(
        name=Words("形势与政策", "Current affairs"), location=Words("报告厅", "Hall"), sessions=((4, 7, 8),), easy=True
    ),
    DemoCourse(
        name=Words("艺术鉴赏", "Art appreciation"),
        location=Words("艺术馆", "Arts 1"),
        sessions=((2, 9, 10),),
        easy=True,
    ),
)
CLASSES = (
    DemoClass(
        name=Words("期末复习", "Finals revision"),
        strategy="steady",
        total_slots=16,
        filler=True,
        excluded=(11, 12),
        items=(
            (Words("线代复习", "Linear algebra revision"), 2),
            (Words("高数复习", "Calculus revision"), 2),
            (Words("物理复习", "Physics revision"), 2),
            (Words("概率复习", "Probability revision"), 2),
            (Words("数据结构复习", "Data structures revision"), 2),
        ),
    ),
    DemoClass(
        name=Words("课程设计", "Course project"),
        strategy="rapid",
        total_slots=12,
        filler=False,
        excluded=(),
        items=(
            (Words("需求文档", "Requirements"), 2),
            (Words("编码", "Coding"), 3),
            (Words("测试", "Testing"), 2),
            (Words("答辩 PPT", "Defence slides"), 2),
        ),
    ),
    DemoClass(
        name=Words("英语四级", "English exam"),
        strategy="steady",
        total_slots=8,
        filler=True,
        excluded=(12,),
        items=(
            (Words("听力练习", "Listening practice"), 1),
            (Words("阅读练习", "Reading practice"), 1),
            (Words("作文练习", "Writing practice"), 2),
        ),
    ),
)
PLACED = (
    DemoPlaced(name=Words("选题报告", "Topic report"), weekday=5, start=5, end=6, class_number=2),
    DemoPlaced(name=Words("单词练习", "Vocabulary practice"), weekday=2, start=10, end=10, class_number=3, guest=True),
    DemoPlaced(name=Words("社团例会", "Club meeting"), weekday=3, start=9, end=10),
    DemoPlaced(name=Words("志愿服务", "Volunteering"), weekday=7, start=3, end=4),
)
NAMES: tuple[Words, ...] = (
    *(course.name for course in COURSES),
    *(name for one in CLASSES for name, _ in one.items),
    *(one.name for one in PLACED),
)
