"""Words that ask for the timetable. Generous on purpose: a needless offer costs little, a miss costs the turn."""

from toolsets.toolset import Keywords


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


_TIMETABLE_ZH = """
    课, 課, 刻表, 日程, 行程, 日历, 行事曆, 行事历, 時間表, 时间表, 教务, ics, 几节, 选修, 選修, 教室, 堂, 第一节,
    考场, 学期, 学校, 自习, 晨跑
"""
_TASKS_ZH = """
    任务, 任務, 待办, 复习, 復習, 预习, 作业, 功課, 论文, 報告, 报告, 备考, 考试, 考研, 期末, 截止, 规划, 计划,
    計劃, 背单词, 大作业, 专题, 專題, 雅思, 四六级, 六级
"""
_ACTIONS_ZH = """
    安排, 排一下, 排进, 排到, 排上, 排课, 调课, 挪, 移到, 移动, 移動, 调到, 调整, 對調, 对调, 换到, 换个, 换回,
    交换, 互换, 改到, 改成, 改期, 改线上, 推迟, 推后, 往后推, 提前, 取消, 搬去, 放到, 放进, 放去, 塞进, 塞到, 腾出,
    腾, 加一个, 加个, 删掉, 删了, 删除, 清了, 清空, 导入, 导出, 匯入, 擺, 摆, 留出, 留半天, 娜到, 提醒, 闹钟, 預約,
    预约, 会议, 開會, 开会, 撞, 打架的, 冲突, 衝突, 设置
"""
_TIME_ZH = """
    今天, 明天, 后天, 今晚, 明晚, 明早, 周一, 周二, 周三, 周四, 周五, 周六, 周日, 周末, 週, 星期, 禮拜, 礼拜, 下周,
    这周, 本周, 上午, 下午, 晚上, 早上, 凌晨, 中午, 下晝, 早朝, 有空, 没空, 空档, 空檔, 空闲, 空余, 还剩多少空,
    最空, 冇時間, 有时间, 没时间, 时间段, 下個月, 下月, 月底, 月头, 月頭, 月初, 几点, 幾點, 点半, 點半, 点钟, 點鐘,
    点到, 點到, 点前, 点后, 点以后, 小时, 小時, 分钟, 分鐘, 半天, 有冇, 得闲, 得閒, 嗰日, 两点, 三点, 四点, 五点,
    六点, 七点, 八点, 九点, 十点, 0点, 1点, 2点, 3点, 4点, 5点, 6点, 7点, 8点, 9点, 每天, 每周, 每日, 日期, 周期
"""
_TIMETABLE_EN = """
    schedul, reschedul, timetable, calendar, calender, agenda, planner, slot, block, event, meeting, appointment,
    appoints, reminder, reminer, remind, remember, alarm, wake, notify, deadline, due, class, lecture, lab, course,
    seminar, tutorial, tutoring, midterm, exam, final, term, semester, shift, clash, conflict, ics
"""
_ACTIONS_EN = """
    task, to-do, todo, study, revis, homework, assignment, essay, reading, gym, workout, yoga, plan, milestone,
    book, reserve, reservation, hold a, conference room, thesis, dissertation, prep, swap, move, postpone, push,
    delay, put, place, stick, fit, squeeze, cancel, clear, unschedul, add, remove, delete, erase, rename, take off,
    off my, set up, set an, set the, set a, set for, don't forget, don't want to forget, forget, call, pick up,
    available, free, openings, gap, busy, lightest, mark, attend, leave, upcoming, import, export, exprot,
    location, duration, hours
"""
_TIME_EN = """
    today, tonight, tomorrow, tmrw, tmr, yesterday, monday, tuesday, tue, wednesday, wed, thursday, thur, thusday,
    friday, fri, saturday, sunday, weekday, week, next, morning, noon, afternoon, evening, later, o'clock, pm, a.m,
    p.m, what do i have, whatever's there, the day after, what's on, hour, minute, january, february, march, april,
    june, july, august, september, october, november, december, flight, time, goes from, aware of, after lunch,
    before lunch, early, late
"""

SCHEDULE = Keywords(
    zh=_listed(f"{_TIMETABLE_ZH},{_TASKS_ZH},{_ACTIONS_ZH},{_TIME_ZH}"),
    en=_listed(f"{_TIMETABLE_EN},{_ACTIONS_EN},{_TIME_EN}"),
)
