"""Reasons of a page's grade in the reader's language."""

from __future__ import annotations

import pytest

from ingest import page_reader
from ingest.document_reader import plain_reason
from kb_qa.quality_reasons import reason_in


@pytest.mark.parametrize(
    ("reason", "chinese"),
    [
        ("read by OCR, confidence 0.93", "由 OCR 识读，置信度 0.93"),
        ("the text layer was made by OCR; a sample of it agrees with ours to 97%", "一致度为 97%"),
        ("0.4% of the characters have no readable form", "0.4% 的字符"),
        (page_reader.UNREADABLE, "文本层的字符无法识读"),
        (page_reader.UNREAD_PICTURES, "部分图片"),
        (page_reader.UNSEEN_TABLES, "未能查找表格"),
        ("the rows and columns of a table are not sure (confidence 0.61)", "置信度 0.61"),
        ("page 3 unreadable: its content is damaged", "第 3 页：无法读取：内容已损坏"),
        ("page 4: tables could not be looked for", "第 4 页：未能查找表格"),
        ("page 2 read without layout and tables: the parser failed on it", "第 2 页：未作版面与表格分析"),
    ],
)
def test_a_reason_is_named_in_both_languages(reason: str, chinese: str) -> None:
    """A Chinese question gets it in Chinese, any other as the parser gave it."""
    assert chinese in reason_in("zh", reason)
    assert reason_in("en", reason) == reason


@pytest.mark.parametrize("error", [MemoryError(), ValueError("broken")], ids=["memory", "content"])
def test_why_a_page_is_unreadable_is_named_in_both_languages(error: Exception) -> None:
    """What the document reader says of a page that it could not read."""
    reason = f"unreadable: {plain_reason(error)}"
    assert reason_in("zh", reason).startswith("无法读取")


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    """Nothing is lost for want of a wording."""
    assert reason_in("zh", "something new") == "something new"
