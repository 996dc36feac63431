"""When a figure of the question may be said again: where the clause negates it, or says that nothing was found."""

from __future__ import annotations

import re

_ABSTENTION = re.compile(
    r"(?ai)\bnot (?:found|mentioned|stated|available|disclosed|provided|specified|contained|included|reported|given)\b"
    r"|\bno (?:information|mention|data|figures?)\b|\b(?:do|does) not (?:contain|mention|state"
    r"|include|provide|specify|say|give)\b"
    r"|未(?:找到|提及|提到|披露|说明|包含|提供|给出|涉及)|没有(?:找到|提及|提到|提供|相关|说明"
    r"|给出|包含)|无(?:相关|法)|找不到"
)
_ELSEWHERE = re.compile(
    r"(?ai)\s?(?:\w+ )?(?:elsewhere|otherwise|anywhere else|separately|in detail|further|by|per|each)\b|其他|别处|另外"
)
_NEGATION = re.compile(
    r"(?ai)(?:(?<!if )\bnot|\brather than|\binstead of|n't(?: be)?|而非|不是|并非|而不是|不等于)\s?$"
)
_AFFIRMATION = re.compile(
    r"(?ai)(?<!not )(?<!n't )\b(?:yes|yeah|yep|indeed|correct|true|confirm(?:s|ed)?|certainly|of course)\b"
    r"|(?<!不)是的|(?:^|[，,。：:\s“\"])(?:对|是|嗯)的?(?=[，,。！!])|没错|确实|(?<!不)正确|的确"
)
_CLAUSE = re.compile(
    r"(?ai)[;；:：。!！?？\n—]|[，,](?!\d)|\.(?!\d)|\b(?:but|while|which|although|though|yet|however|whereas|because"
    r"|since)\b|但|而(?!非|不)|不过|然而"
)
_ASSERTION = re.compile(
    r"(?ai)\b(?:is|was|were|are|equals?|amount(?:s|ed) to|total(?:s|ed)|reach(?:es|ed)|rose|rises|grew|grows|fell|falls"
    r"|increased|decreased|stood|came|has|have|had|earned|made|sold)\b|为|是(?!否)|达|增长|下降|上升|共计|合计"
)
_COMPLEMENT = re.compile(r"(?ai)\b(?:that|whether|if|how)\b|是否")
_COPULA = re.compile(r"(?ai)(?: (?:is|was|are|were|has|have|had|been|be|can|could|there|also|itself)){0,4} ?$")
_AND_MORE = re.compile(r"(?ai)\b(?:and|or|with)\b|[(（]")
_PAST = re.compile(r"(?ai)\b[a-z]+ed\b|了")
_NOUN_PHRASE = re.compile(
    r"(?ai)(?:^\s*|[\u3000-\uffef]|\b(?:the|an?|any|of|for|in|on|about|to|at|by|from|during|as of|this|that|its|year"
    r"|fiscal|and|or)\s?|[$€£¥]\s?)$"
)
_SECOND = re.compile(r"(?ai)\b(?:and|or)\b")
# "For 2026, no figure was found": a period in front belongs to the clause behind the comma.
_ADVERBIAL = re.compile(
    r"(?ai)\s*(?:for|in|as of|as for|regarding|on|at|during|about|concerning|关于|对于|针对|就|在|截至)"
)


def abstains(text: str) -> bool:
    """Whether a text says anywhere that something was not found."""
    return _ABSTENTION.search(text) is not None


def is_negated(text: str, start: int) -> bool:
    """Whether the words right before `start` negate what stands there: `not 30%`, `而非30%`."""
    return _NEGATION.search(text[max(0, start - 16) : start]) is not None


def is_abstained(text: str, start: int, end: int) -> bool:
    """Whether the clause of `[start, end)` says that it was not found, and nothing in the unit affirms the question."""
    if _AFFIRMATION.search(text):
        return False
    left, right = _clause(text, start, end)
    return any(_governs(text, match, (left, start, end)) for match in _ABSTENTION.finditer(text, left, right))


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    marks = list(_CLAUSE.finditer(text))
    left = max((mark.end() for mark in marks if mark.end() <= start), default=0)
    following = [mark for mark in marks if mark.start() >= end]
    right = following[0].start() if following else len(text)
    lead = text[left:right]
    if following and following[0][0] in {",", "，"} and _ADVERBIAL.match(lead) and not _ASSERTION.search(lead):
        right = following[1].start() if len(following) > 1 else len(text)
    return left, right


def _governs(text: str, abstention: re.Match[str], place: tuple[int, int, int]) -> bool:
    """An abstention before the figure takes it as its object; behind it, nothing may assert the figure first."""
    left, start, end = place
    if abstention.end() <= start:
        between = text[abstention.end() : start]
        if not abstention[0].isascii() or not _ASSERTION.search(between):
            return True
        complement = _COMPLEMENT.search(between)
        return complement is not None and not _SECOND.search(between, complement.end())
    if abstention.start() < end or _ELSEWHERE.match(text, abstention.end()):
        return False
    before, between = text[left:start], _COPULA.sub("", text[end : abstention.start()])
    if _ASSERTION.search(between) or _AND_MORE.search(between):
        return False
    if "是否" in before or _COMPLEMENT.match(before.lstrip()):
        return True
    # A verb is an open class: what stands right before the figure must not be one.
    return not _ASSERTION.search(before) and not _PAST.search(before) and _NOUN_PHRASE.search(before) is not None
