"""Demo data: a term with courses, three task classes with pending items, a few things that have their place."""

from collections.abc import Iterable
from datetime import date, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from toolsets.pack import DemoInput
from toolsets.scheduling.demo_plan import CLASSES, CLOCK, COURSES, PLACED, TERM, WEEK_NOW, WEEKS, DemoClass
from toolsets.scheduling.state import COURSE
from toolsets.scheduling.tables import GUEST, HOST, SectionRow, TaskClassRow, TaskRow, TermRow
from toolsets.scheduling.window import monday_of


async def demo(session: AsyncSession, given: DemoInput) -> None:
    """Put a timetable in place, this week being the term's 14th; does nothing for a user who has tasks already."""
    if await session.scalar(select(TaskRow.id).where(TaskRow.user_id == given.user_id).limit(1)):
        return
    await _Demo(session, given).put()


class _Demo:
    def __init__(self, session: AsyncSession, given: DemoInput) -> None:
        self._session = session
        self._given = given
        self._monday = monday_of(given.now.astimezone(given.zone).date())
        self._numbers = iter(range(1, 1000))
        self._sections: list[SectionRow] = []

    async def put(self) -> None:
        classes = [self._class(number, one) for number, one in enumerate(CLASSES, start=1)]
        self._session.add_all([self._term(), *classes])
        await self._session.flush()
        self._session.add_all(self._tasks([one.id for one in classes]))
        await self._session.flush()
        self._session.add_all(self._sections)
        await self._session.flush()

    def _tasks(self, class_keys: list[str]) -> Iterable[TaskRow]:
        for course in COURSES:
            slots = sum(end - start + 1 for _, start, end in course.sessions)
            row = self._task(course.name.said(self._given.locale), COURSE, slots * WEEKS)
            row.locked, row.can_embed = not course.easy, course.easy
            row.location = course.location.said(self._given.locale)
            for week in range(-1, WEEKS - WEEK_NOW + 1):
                for weekday, start, end in course.sessions:
                    self._put(row, self._day(week, weekday), range(start, end + 1), HOST)
            yield row
        for one, key in zip(CLASSES, class_keys, strict=True):
            for name, slots in one.items:
                yield self._task(name.said(self._given.locale), "task", slots, key)
        for placed in PLACED:
            key = None if placed.class_number is None else class_keys[placed.class_number - 1]
            slots = range(placed.start, placed.end + 1)
            row = self._task(placed.name.said(self._given.locale), "event", len(slots), key)
            self._put(row, self._day(1, placed.weekday), slots, GUEST if placed.guest else HOST)
            yield row

    def _day(self, week: int, weekday: int) -> date:
        return self._monday + timedelta(days=7 * week + weekday - 1)

    def _put(self, task: TaskRow, day: date, slots: range, layer: str) -> None:
        self._sections += [
            SectionRow(
                id=self._given.new_id(),
                user_id=self._given.user_id,
                date=day,
                slot=slot,
                layer=layer,
                task_id=task.id,
            )
            for slot in slots
        ]

    def _task(self, name: str, category: str, duration: int, class_key: str | None = None) -> TaskRow:
        return TaskRow(
            id=self._given.new_id(),
            user_id=self._given.user_id,
            number=next(self._numbers),
            name=name,
            source="event" if class_key is None else "task_item",
            category=category,
            task_class_id=class_key,
            duration=duration,
            locked=False,
            can_embed=False,
            location="",
        )

    def _class(self, number: int, one: DemoClass) -> TaskClassRow:
        return TaskClassRow(
            id=self._given.new_id(),
            user_id=self._given.user_id,
            number=number,
            name=one.name.said(self._given.locale),
            strategy=one.strategy,
            total_slots=one.total_slots,
            allow_filler_course=one.filler,
            excluded_slots=list(one.excluded),
            start_date=self._monday,
            end_date=self._monday + timedelta(days=20),
            updated_at=self._given.now,
        )

    def _term(self) -> TermRow:
        return TermRow(
            id=self._given.new_id(),
            user_id=self._given.user_id,
            name=TERM.said(self._given.locale),
            starts_on=self._monday - timedelta(weeks=WEEK_NOW - 1),
            weeks=WEEKS,
            slots_per_day=len(CLOCK),
            clock=[list(pair) for pair in CLOCK],
            holidays=[],
            updated_at=self._given.now,
        )
