"""What a terminal tells of a refusal and of a search that found nothing."""

import pytest

from kb_qa.answers import AnswerEvent, Language
from kb_qa.terminal import Terminal, nothing_found

REFUSAL = {
    "message": "Not found in the materials.",
    "missing": ["P9"],
    "nearest": ["a.pdf · P4"],
    "searched": {"documents": 2, "chosen": ["a.pdf"], "pages": [99], "element_types": ["table"], "since": "2024-01-01"},
}


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (
            "en",
            "Named in no passage: P9 · Searched: 2 document(s) · within a.pdf, pages 99, table, since 2024-01-01"
            " · What comes nearest: a.pdf · P4\n",
        ),
        (
            "zh",
            "材料中没有提到：P9 · 已查阅：2份文档 · 范围：a.pdf, 第99页, 表格, 2024-01-01起"
            " · 最接近的内容：a.pdf · P4\n",
        ),
    ],
)
def test_a_refusal_says_why(language: Language, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What no passage names, what was searched within which limits, and what came nearest, in its language."""
    terminal = Terminal()
    terminal.print_event(AnswerEvent(1, "start", {"answer_id": "a", "language": language}))
    capsys.readouterr()
    terminal.print_event(AnswerEvent(3, "refusal", REFUSAL))
    out, err = capsys.readouterr()
    assert out == "Not found in the materials.\n"
    assert err == told


def test_a_search_without_hits_names_its_limits() -> None:
    """A page that no document has is seen at once; without limits nothing of them is said."""
    none = {"documents": (), "folder": "", "pages": (), "element_types": (), "since": "", "until": ""}
    assert nothing_found(none | {"pages": (99,), "folder": "x"}, "en") == "No passage was found (within x, pages 99)"
    assert nothing_found(none, "zh") == "没有找到任何段落"
