"""A question after others → one that needs none of them, without a model. In doubt it stays as it is, byte for byte.

What an earlier question named (company, product, code, measure, period) is carried into what the new one leaves open;
what the new one names takes the place of its own kind. Figures are never carried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kb_qa.follow_ups import chinese, english
from kb_qa.follow_ups.carrying import FollowUp, mixed
from kb_qa.follow_ups.parts import of_kind, parts_in
from kb_qa.guardrails.languages import language_of
from kb_qa.terms import terms

LONGEST = 200  # characters of a question that can be a follow-up, and of one that can be taken up

_OTHER_SCRIPT = re.compile(r"[\u0370-\u05ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")
_SENTENCE = re.compile(r"[^.?!。？！\n]+(?:\.(?=\w)[^.?!。？！\n]+)*[.?!。？！]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# What a question has no need of: it is not passed on, whoever wrote it.
_ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override|pretend|instructions?|system prompt|you are now|jailbreak)\b"
    r"|忽略|无视|忘记|指令|提示词|假装|扮演"
)
_COURTESY = frozenset("thank thanks ok okay great hello hi good bye pleas 谢谢 感谢 多谢 好 好的 您好 你好".split())


def follow_up(question: str, earlier: Sequence[str]) -> FollowUp:
    """`earlier` are the standalone questions before this one, the latest last; thanks and greetings are passed over."""
    before = next((text for text in reversed(earlier) if _says_something(text)), "")
    asked = question.strip()
    source = _last_question(before)
    if (
        not source
        or _ORDER.search(source)
        or not 0 < len(asked) <= LONGEST
        or _CONTROL.search(asked)
        or _OTHER_SCRIPT.search(asked + source)
    ):
        return FollowUp(question)
    language = language_of(asked if says_a_word(asked) else source)
    if language != language_of(source):
        found = mixed(asked, source)
    else:
        found = (chinese if language == "zh" else english).follow_up(asked, source)
    if found is None or _carries_figures(found.text, asked):
        return FollowUp(question)
    return found if found.text != asked else FollowUp(question, found.continues)


def says_a_word(text: str) -> bool:
    """Whether the text has a language: `P6？` and `2023?` have none."""
    return re.search(r"[\u3400-\u9fff]|[A-Za-z]{2,}", re.sub(r"(?a)\w*\d\w*", "", text)) is not None


def _says_something(text: str) -> bool:
    return len(text) > LONGEST or any(term not in _COURTESY for term in terms(text))


def _last_question(text: str) -> str:
    """The sentence that asks: the last one. Empty where it is too long to be sure of."""
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text[-2 * LONGEST :]) if match[0].strip()]
    if not sentences or len(sentences[-1]) > LONGEST or _CONTROL.search(sentences[-1]):
        return ""
    return sentences[-1]


def _carries_figures(text: str, asked: str) -> bool:
    """Whether the text holds a figure that the new question itself does not."""
    figures, own = (Counter(part.text for part in of_kind(parts_in(each), "figure")) for each in (text, asked))
    return bool(figures - own)
