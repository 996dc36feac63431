"""Why a file was not taken, in English and Chinese."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_qa.errors import RejectedFileError
from kb_qa.quality_reasons import reason_in, summed_reasons
from kb_qa.rejections import BY_CODE, advice_in, language_of, rejection_in

INGEST = Path(__file__).resolve().parents[1] / "ingest"


def kinds() -> list[type[RejectedFileError]]:
    found = [RejectedFileError]
    for kind in found:
        found += kind.__subclasses__()
    return found


def sample(node: ast.expr) -> str:
    """The message with a name where one is quoted, else a number; "" where it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return ""
    quoted = repr("年报 'final'.pdf")
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else quoted if part.conversion == ord("r") else "7"
        for part in node.values
        if isinstance(part, (ast.Constant, ast.FormattedValue))
    )


def messages() -> Iterator[tuple[str, str]]:
    """Each sentence with which the write side rejects a file, and its code."""
    codes = {kind.__name__: kind.code for kind in kinds()}
    for path in sorted(INGEST.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in codes and isinstance(node, ast.Call) and (said := sample(node.args[0])):
                yield codes[name], said


@pytest.mark.parametrize(("code", "message"), sorted(set(messages())))
def test_every_reason_of_a_rejection_has_a_chinese_wording_of_its_own(code: str, message: str) -> None:
    """Walks the sentences in the code of the write side: a new one needs a wording, and keeps its name and figures."""
    chinese = rejection_in("zh", code, message)
    assert BY_CODE[code] not in chinese
    assert chinese != message
    assert not ("年报" in message and "ZIP" not in message) or "年报 'final'.pdf" in chinese
    assert rejection_in("en", code, message) == message


@pytest.mark.parametrize("kind", kinds())
def test_every_code_of_a_rejection_has_a_chinese_wording(kind: type[RejectedFileError]) -> None:
    """A sentence that is not known, of another version, is told by its code, and the sentence stays readable."""
    assert rejection_in("zh", kind.code, "something new") == f"{BY_CODE[kind.code]}（something new）"


@pytest.mark.parametrize("kind", kinds())
def test_every_code_of_a_rejection_says_what_to_do(kind: type[RejectedFileError]) -> None:
    """A whole sentence in either language; where nothing was rejected there is nothing to do."""
    english, chinese = advice_in("en", kind.code), advice_in("zh", kind.code)
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert advice_in("en", "") == advice_in("zh", "no_such_code") == ""


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", [("read by OCR, confidence 0.81–0.93", 3), ("tables could not be looked for", 2)]),
        ("zh", [("由 OCR 识读，置信度 0.81–0.93", 3), ("未能查找表格", 2)]),
    ],
)
def test_reasons_that_differ_in_a_figure_alone_are_told_once(language: str, told: list[tuple[str, int]]) -> None:
    """As from–to, with all the pages they are told of, the most frequent first."""
    reasons = {
        "tables could not be looked for": 2,
        "read by OCR, confidence 0.93": 2,
        "read by OCR, confidence 0.81": 1,
    }
    assert summed_reasons(language, reasons) == told


@pytest.mark.parametrize(
    ("reason", "chinese"),
    [
        ("'a.pdf' is named .pdf but holds HTML", "'a.pdf' 的扩展名为 .pdf，内容却是：HTML"),
        ("'a.zip' is a ZIP archive; unpack it first", "'a.zip' 不受支持，内容是：ZIP 压缩包，请先解压"),
        ("a symbolic link", "符号链接"),
        ("the same file as 'b.pdf'", "与 'b.pdf' 是同一文件"),
        ("unchanged", "未变化"),
        ("", ""),
        ("something new", "something new"),
    ],
)
def test_what_a_file_holds_and_what_is_skipped_is_told_in_chinese(reason: str, chinese: str) -> None:
    """Of a skipped file there is no code; what nobody knows stays as it is."""
    assert rejection_in("zh", "", reason) == chinese


@pytest.mark.parametrize(
    "flag",
    [
        "repaired",
        "pages printed by LibreOffice",
        "3 pictures not read",
        "sheet 'Q1': 4 cells in hidden rows or columns left out",
        "2 attachments not read: a.pdf, b.png",
        "encoding guessed: gb18030",
    ],
)
def test_flags_of_a_document_are_told_in_chinese(flag: str) -> None:
    """They stand beside the reason in the list of documents."""
    assert reason_in("zh", flag) != flag == reason_in("en", flag)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW", "LANG": "en_US"}, "zh"),
        ({}, "en"),
    ],
)
def test_a_terminal_s_language_is_its_locale_s(environment: dict[str, str], language: str) -> None:
    """LC_ALL before LC_MESSAGES before LANG."""
    assert language_of(environment) == language
