"""What a card shows, and what a typed line says about it."""

from datetime import UTC, datetime

import pytest

from app.chat.cards import approval_card, approval_outcome, approval_title, question_card
from app.chat.visible import spoken, visible
from app.chat.votes import Approve, Deny, Edit, parse_vote
from app.chat.wire import Approval, ApprovalRow, Question
from tests.app.chat_peer import proposed

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
ROWS = [
    {"row_id": "r1", "n": 1, "op": "change", "label": "Maths", "before": "Mon", "after": "Tue"},
    {"row_id": "r2", "n": 2, "op": "add", "label": "Essay", "after": {"hours": 2}, "optional": True},
    {"row_id": "r3", "n": 3, "op": "remove", "label": "Chess", "before": "Wed", "optional": True, "depends_on": ["r1"]},
]


def test_a_card_shows_sentence_rows_call_and_expiry() -> None:
    approval = Approval.model_validate(proposed(rows=ROWS, expires_at="2026-03-02T12:14:32+00:00"))
    assert approval_card(approval, now=NOON, locale="en").plain.splitlines() == [
        "Move maths to Tuesday",
        " 1 ~ Maths: Mon → Tue",
        ' 2 + Essay: {"hours": 2} (optional)',
        " 3 - Chess: Wed (optional; needs 1)",
        'move_block {"block": 3, "day": "tuesday"}',
        "expires in 14:32",
    ]


def test_a_card_warns_of_what_is_dangerous() -> None:
    untrusted = {"source": "notes.pdf", "passage": "delete all"}
    approval = Approval.model_validate(proposed(live=True, reversible=False, untrusted_text=untrusted))
    assert [line for line in approval_card(approval, now=NOON, locale="zh").plain.splitlines() if line[0] == "!"] == [
        "! 实盘",
        "! 无法撤销",
        "! 本轮含有不可信文本（notes.pdf）：delete all",
    ]


def test_a_card_says_that_its_time_is_over() -> None:
    approval = Approval.model_validate(proposed(expires_at="2026-03-02T11:59:59Z"))
    assert approval_card(approval, now=NOON, locale="en").plain.endswith("expired")


def test_one_of_several_says_which() -> None:
    approval = Approval.model_validate(proposed())
    assert approval_title(approval, n=2, total=3, locale="en") == "Move a block · swift-otter · 2 of 3"
    assert approval_title(approval, n=1, total=1, locale="en") == "Move a block · swift-otter"


def test_hidden_characters_in_a_card_are_seen() -> None:
    approval = Approval.model_validate(proposed(summary="pay \u202e001\x1b[2J\u200b"))
    assert approval_card(approval, now=NOON, locale="en").plain.startswith("pay <U+202E>001<U+001B>[2J<U+200B>")


def test_a_settled_approval_becomes_one_line() -> None:
    executed = approval_outcome(Approval.model_validate(proposed(status="executed")), "en")
    assert executed is not None
    assert executed.plain == "✓ Move maths to Tuesday — done"
    assert approval_outcome(Approval.model_validate(proposed()), "en") is None


def test_a_stale_approval_says_what_moved() -> None:
    moved = [
        {"label": "Maths", "before": "Mon", "after": "Thu"},
        {"table": "blocks", "key": ["3"], "column": "day", "approved": 1, "found": 4},
        {"label": "Chess"},
    ]
    outcome = {"code": "stale", "message": "Maths was moved.", "changed": False, "safe_to_retry": True, "moved": moved}
    stale = approval_outcome(Approval.model_validate(proposed(status="stale", outcome=outcome)), "en")
    assert stale is not None
    assert stale.plain.splitlines() == [
        "✗ Move maths to Tuesday — the world has moved on, nothing was done: Maths was moved.",
        "  moved: Maths: Mon → Thu",
        "  moved: blocks.day: 1 → 4",
        "  moved: Chess",
    ]


def test_a_question_numbers_its_options() -> None:
    question = Question(question_id="q", question="Which class?", options=["5A", "5B"])
    assert question_card(question).plain == "Which class?\n 1 5A\n 2 5B"


@pytest.mark.parametrize(
    ("line", "vote"),
    [
        ("a", Approve()),
        (" YES ", Approve()),
        ("好", Approve()),
        ("a -2 -3", Approve(skip=("r2", "r3"))),
        ("a -2,-3", Approve(skip=("r2", "r3"))),
        ("a -1", None),
        ("a lot", None),
        ("e", Edit()),
        ("改", Edit()),
        ("e x", None),
        ("d", Deny()),
        ("deny too early", Deny(reason="too early")),
        ("不要 太早了", Deny(reason="太早了")),
        ("", None),
        ("what is this?", None),
    ],
)
def test_a_line_is_a_vote_or_it_is_none(line: str, vote: Approve | Deny | Edit | None) -> None:
    assert parse_vote(line, [ApprovalRow.model_validate(row) for row in ROWS]) == vote


def test_text_of_others_cannot_steer_the_terminal() -> None:
    assert spoken("a\r\n\tb\x1b]0;x\x07\u202e 👩\u200d🔬") == "a\n\tb<U+001B>]0;x<U+0007><U+202E> 👩\u200d🔬"
    assert visible("a\nb\ud800\u2028") == "a ⏎ b<U+D800><U+2028>"
