"""Which separator is the decimal one in a text: known from its words, or from its unambiguous numbers."""

from __future__ import annotations

import re

from kb_qa.guardrails.numerals import document_locale

_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,8}(?![^\W\d_])")
_ENGLISH = frozenset(
    "the of and is are was were for to by from with that this it its has have at as be been than not our we they"
    " their which or".split()
)
_COMMA_WORDS = frozenset(
    "der das und ist im den dem des mit für von zu auf ein eine einen einer wurde beträgt betrug nicht sich als bei"
    " de le la les du et est une dans pour sur avec par au aux sont été el los las en del con por una es fue"
    " il gli della dei di è nel os da em uma foi het een van op zijn och att av og på się".split()
)
_SURE = 3  # names have two of them: `Maria de la Cruz`
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SURE_COMMA = re.compile(r"(?a)(?<!\d)\d{1,3}(?:\.\d{3})+,\d+(?!\d)")


def spoken_locale(text: str) -> str:
    """`en` (decimal point) or `de` (decimal comma) where the function words of `text` say so; empty where they do not.

    Chinese, Japanese and Korean texts print a decimal point.
    """
    words = [match[0] for match in _WORD.finditer(text)]
    english = len(_ENGLISH & {word.lower() for word in words})
    # In lower case, but for the first: `800 La Salle Ave` is a name.
    comma = len(_COMMA_WORDS & {words[0].lower(), *words[1:]}) if words else 0
    if comma >= _SURE and comma > 2 * english:
        return "de"
    if english > 2 * comma or (_EAST_ASIAN.search(text) and not comma):
        return "en"
    return ""


def locale_of(text: str) -> str:
    """The locale of a block whose document's is not stored; empty, and `1.234` ambiguous, where words and numbers
    disagree or say nothing."""
    spoken, printed = spoken_locale(text), document_locale(text)
    if printed == "de" and not spoken and not _SURE_COMMA.search(text):
        return ""  # `notes 1,2` is no decimal comma
    return spoken or printed if not (spoken and printed) or spoken == printed else ""
