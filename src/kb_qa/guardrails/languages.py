"""The language of a question: its answer, refusals and labels are in it, whatever the source's language."""

from __future__ import annotations

import re

from kb_qa.answers import Language

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"(?a)[A-Za-z]{2,}")
_TRADITIONAL = re.compile(
    "[萬億個兩圓這為與會營業號頁從對於後還過時間關開說請問麼哪裡總額淨潤費價單據資產負債務經濟發現]"
)


def language_of(question: str) -> Language:
    """`zh` where Han characters carry the question: at least as many as half its Latin words; else `en`."""
    han = len(_HAN.findall(question))
    return "zh" if han and 2 * han >= len(_LATIN_WORD.findall(question)) else "en"


def language_tag_of(question: str) -> str:
    """The tag of the message texts: `zh-Hans`, `zh-Hant`, `ja`, `ko` or `en`."""
    kana_or_hangul = _KANA_OR_HANGUL.search(question)
    if kana_or_hangul:
        return "ja" if kana_or_hangul[0] < "\u3100" else "ko"
    if language_of(question) == "en":
        return "en"
    return "zh-Hant" if len(_TRADITIONAL.findall(question)) > 0 and not _only_shared(question) else "zh-Hans"


def _only_shared(question: str) -> bool:
    """Characters written alike in both scripts say nothing (於, 後, 哪, 裡 appear in simplified texts now and then)."""
    return all(character in "於後哪裡問據" for character in _TRADITIONAL.findall(question))
