"""Selection: inclusive, pure, monotone."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.selection import normalized, select
from toolsets.toolset import Keywords, Toolset
from toolsets.words import Words


def toolset(name: str, *, always: bool = False, context: tuple[str, ...] = (), zh: str = "", en: str = "") -> Toolset:
    keywords = Keywords(zh=tuple(zh.split()), en=tuple(en.split("|")) if en else ())
    return Toolset(name, title=Words.same(name), keywords=keywords, always=always, context=context)


PLAN = toolset("planning", always=True)
CALENDAR = toolset("calendar", zh="课表 日程 空闲", en="timetable|free time|gate")
QUIZ = toolset("quiz", zh="测验 出题", en="quiz|don't forget", context=("has_artifacts",))
SHOP = toolset("shop", zh="买", en="buy")
ALL = (PLAN, CALENDAR, QUIZ, SHOP)


def test_toolsets_that_are_always_there_need_no_word() -> None:
    selection = select(ALL, "")
    assert selection.offered == ("planning",)
    assert selection.deferred == ("calendar", "quiz", "shop")
    assert selection.reasons == {"planning": ["always"]}


def test_an_english_word_counts_from_its_start_and_a_chinese_one_anywhere() -> None:
    assert "quiz" in select(ALL, "Make me two QUIZZES").offered
    assert "calendar" not in select(ALL, "please investigate").offered
    assert "calendar" in select(ALL, "the gates").offered
    assert "calendar" in select(ALL, "看看我的课表吧").offered
    assert "quiz" in select(ALL, "帮我quiz一下").offered


def test_width_case_apostrophes_and_line_breaks_make_no_difference() -> None:
    assert "quiz" in select(ALL, "ＱＵＩＺ").offered
    assert "quiz" in select(ALL, "Don\u2019t forget it").offered
    assert "calendar" in select(ALL, "any free\n  time left").offered


def test_earlier_messages_sticky_toolsets_and_context_each_offer_and_say_so() -> None:
    selection = select(ALL, "and Friday?", ["what does my timetable say"], ["shop"], {"has_artifacts": True})
    assert selection.offered == ("planning", "calendar", "quiz", "shop")
    assert selection.deferred == ()
    assert selection.reasons["calendar"] == ["earlier: timetable"]
    assert selection.reasons["quiz"] == ["context: has_artifacts"]
    assert selection.reasons["shop"] == ["sticky"]


def test_a_context_key_without_a_value_offers_nothing() -> None:
    for nothing in (False, None, "", 0):
        assert "quiz" not in select(ALL, "", context={"has_artifacts": nothing}).offered


def test_a_sticky_toolset_of_another_assistant_is_not_offered() -> None:
    assert "shop" not in select((PLAN, CALENDAR), "buy", sticky=["shop"]).offered


def test_a_toolset_without_keywords_is_never_found_by_words() -> None:
    silent = toolset("silent")
    assert select([silent], "anything at all").deferred == ("silent",)


words = st.one_of(
    st.sampled_from(["timetable", "课表", "quiz", "buy", "买", "don't forget", "free time", "Gate"]),
    st.text(max_size=12),
)
texts = st.lists(words, max_size=6).map(" ".join)
names = st.lists(st.sampled_from([one.name for one in ALL]), max_size=3)
contexts = st.dictionaries(st.sampled_from(["has_artifacts", "class_id"]), st.sampled_from([True, False, "7A"]))


@given(texts, texts, texts, st.lists(texts, max_size=3), texts, names, names, contexts)
def test_more_words_history_or_context_never_remove_a_toolset(
    text: str,
    before: str,
    after: str,
    earlier: list[str],
    another: str,
    sticky: list[str],
    more_sticky: list[str],
    context: dict[str, object],
) -> None:
    less = set(select(ALL, text, earlier, sticky, context).offered)
    longer = f"{before} {text} {after}"
    assert less <= set(select(ALL, longer, [*earlier, another], sticky + more_sticky, {**context, "x": 1}).offered)
    assert less <= set(select(ALL, text, earlier, sticky, {**context, "has_artifacts": True}).offered)


@given(texts)
def test_every_toolset_is_either_offered_or_deferred_in_the_assistants_order(text: str) -> None:
    selection = select(ALL, text)
    together = [one.name for one in ALL if one.name in {*selection.offered, *selection.deferred}]
    assert sorted([*selection.offered, *selection.deferred]) == sorted(together)
    assert [name for name in together if name in selection.offered] == list(selection.offered)
    assert set(selection.reasons) == set(selection.offered)


@given(st.text())
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)
