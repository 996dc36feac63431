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


# Function and question words of languages that have message texts; a word that two of them share is left out.
_WORDS = {
    "de": "der die das und ist wie hoch war waren wurde wurden im den dem mit für von zum zur welche welcher wann wo"
    " eine einen einer nicht sich auf aus bei nach unterlagen jahr".split(),
    "fr": "le les du était étaient quel quelle quels quelles combien une dans pour sur avec aux sont été où quand est"
    " société chiffre année au des".split(),
    "es": "el los las cuál cuáles cuánto cuántos fue fueron una del por con qué cuándo dónde es son empresa año"
    " ingresos".split(),
}
_ENGLISH_WORDS = frozenset("the what was were is are how which when of in and did does for many much".split())
_ANY_WORD = re.compile(r"[^\W\d_]+")


def _european(question: str) -> str:
    """`de`, `fr` or `es` where at least two of its words stand, and more than of English; else `en`."""
    words = {match[0].lower() for match in _ANY_WORD.finditer(question)}
    counts = {tag: len(words.intersection(known)) for tag, known in _WORDS.items()}
    best = max(counts, key=lambda tag: counts[tag])
    return best if counts[best] > 1 and counts[best] > len(words & _ENGLISH_WORDS) else "en"


def language_tag_of(question: str) -> str:
    """The tag of the message texts: `zh-Hans`, `zh-Hant`, `ja`, `ko`, `de`, `fr`, `es` or `en`."""
    kana_or_hangul = _KANA_OR_HANGUL.search(question)
    if kana_or_hangul:
        return "ja" if kana_or_hangul[0] < "\u3100" else "ko"
    if language_of(question) == "en":
        return _european(question)
    return "zh-Hant" if len(_TRADITIONAL.findall(question)) > 0 and not _only_shared(question) else "zh-Hans"


def _only_shared(question: str) -> bool:
    """Characters written alike in both scripts say nothing (於, 後, 哪, 裡 appear in simplified texts now and then)."""
    return all(character in "於後哪裡問據" for character in _TRADITIONAL.findall(question))
