"""English questions that refer back: "How much did it grow?", "What was its margin?", "Does that policy apply?"."""

from __future__ import annotations

import re

from kb_qa.follow_ups.carrying import FollowUp
from kb_qa.follow_ups.parts import is_measure, of_kind, parts_in, single
from kb_qa.follow_ups.topic import Topic

_PRONOUN = re.compile(r"(?i)\b(?P<own>its|their|his)\b|\b(?P<her>her)\b|\b(?P<plain>it|they|them|he|she|him)\b")
_THAT = re.compile(
    r"(?i)(?:(?<=\bdoes )|(?<=\bdid )|(?<=\bwas )|(?<=\bis ))(?P<plain>this|that)"
    r"(?= (?:compare|change|differ|grow|rise|fall|increase|decrease|develop|include|apply|mean|higher|lower|more"
    r"|less)\b|$)"
)
_DEMONSTRATIVE = re.compile(r"(?i)\b(?:this|that|these|those|the same)\s+(?P<noun>[a-z]+)\b")
_COMPANY = re.compile(r"(?i)(?:compan(?:y|ies)|firm|group|business|bank|corporation|organi[sz]ation)$")
_PERIOD = re.compile(r"(?i)(?:year|quarter|month|period|half)$")
# What may stand before a pronoun that refers back: no noun that it could refer to.
_FUNCTION = frozenset(
    "what which who whom whose when where why how much many often long far high low big large old soon is are was were"
    " do does did can could should would will has have had may must the of in on at for from by to with about than as"
    " and or but so also then not more less if there any did's what's who's 's".split()
)
# "How many employees does it have": what is asked for stands in front, and is not the pronoun's.
_INVERTED = re.compile(
    r"(?i)(?:how (?:much|many)|what|which) (?:(?!of\b|is\b|was\b|are\b|were\b|the\b|and\b)[\w-]+ ){0,3}"
    r"(?:do|does|did|has|have|had|can|could|will|would|must|should)"
)
_EXPLETIVE = re.compile(
    r"(?i)\bit (?:takes?|took|costs?|possible|allowed|permitted|necessary|mandatory|ok|okay|true|safe|required|legal"
    r"|better|worth|correct|common|okay|acceptable|matter|rains?)\b.*\b(?:to|that|for|if|when|whether)\b"
    r"|\bit (?:possible|true|necessary|mandatory)\b|\b(?:is|was) it (?:that|who)\b|\bwhat time\b"
)
_CHANGE = (
    r"grow|grew|grown|rise|rose|risen|fall|fell|fallen|increased?|decreased?|declined?|changed?|dropped|drop|improved?"
    r"|compared?|develop|evolve|go up|go down|amount to|total|represent|differ|higher|lower"
)
_OF_MEASURE = re.compile(
    rf"(?i)\s+(?:\w+ly\s+)?(?:{_CHANGE}|calculated|computed|defined|measured|reported|split|broken down|made up|driven"
    r"|mean)\b"
)
_ANOTHER = re.compile(
    r"(?i)\b(?:it|its|they|their|them|he|she|his|him)\b|\b(?:was|is|were|are|than|to) (?:that|this)\b"
)
_HOW_MUCH_IS = re.compile(r"(?i)(?:(?:so|and|then|or) )*how (?:high|large|big|much|low) (?:is|are|was|were)")
_COMPARES = re.compile(r"(?i)\b(?:compared?|than|versus|vs|against|differ)\b")
_SUMS = re.compile(rf"(?i)\bhow (?:much|many)\b|\b(?:{_CHANGE})\b|\bwhat\b")
_TIMES = re.compile(r"(?i)\b(?:since|until|till|between|today|now|currently|last|next|this)\b|^(?:when|where|who)\b")


def referring(asked: str, topic: Topic) -> FollowUp | None:
    """The question with what it refers to in the pronoun's place; None where it refers to nothing before it."""
    return _demonstrative(asked, topic) or _pronoun(asked, topic)


def _pronoun(asked: str, topic: Topic) -> FollowUp | None:
    match = _PRONOUN.search(asked) or _THAT.search(asked)
    if match is None or _EXPLETIVE.search(asked) or not _refers_back(asked[: match.start()]):
        return None
    groups = match.groupdict()
    own = bool(groups.get("own")) or bool(groups.get("her") and re.match(r"\s+[a-z]", asked[match.end() :]))
    if _ANOTHER.search(asked[match.end() :]):
        return None  # two to resolve: half a guess is none
    words = _antecedent(asked, match, topic, own=own)
    if not words or len(words) > 120:
        return None
    if own:
        words += "’" if words.endswith("s’") else "'s"
    text = asked[: match.start()] + words + asked[match.end() :]
    return FollowUp(_finished(text + _period(asked, words, topic)), continues=True)


def _refers_back(before: str) -> bool:
    """Nothing before the pronoun could be meant by it: no noun, or one that a preposition ties to the pronoun."""
    tokens = [token.strip(",'").lower() for token in before.split()]
    nouns = [token for token in tokens if token and token not in _FUNCTION]
    if of_kind(parts_in(before), "name", "code"):
        return False
    if _INVERTED.fullmatch(before.strip()):
        return True
    tied = bool(tokens) and tokens[-1] in {"of", "in", "for", "from", "by", "about", "to", "at"}
    return not nouns or (tied and len(nouns) <= 3 and tokens[-2:-1] == nouns[-1:] and _is_one_phrase(tokens, nouns))


def _is_one_phrase(tokens: list[str], nouns: list[str]) -> bool:
    """Whether the nouns are one phrase right behind "the" or "what": `what was the growth of …`."""
    start = tokens.index(nouns[0])
    return (
        start > 0
        and tokens[start - 1] in {"the", "a", "an", "what", "which"}
        and tokens[start : start + len(nouns)] == nouns
    )


def _antecedent(asked: str, match: re.Match[str], topic: Topic, *, own: bool) -> str:
    after = asked[match.end() :]
    name = single(topic.parts_of("name"))
    personal = match[0].lower() in {"he", "him", "his", "she", "her"}
    if personal and topic.is_person:
        return topic.phrase
    if not own and not personal and (_OF_MEASURE.match(after) or match[0].lower() in {"this", "that"}):
        phrase = topic.phrase if topic.measure else ""
        return topic.whole if phrase and _COMPARES.search(after) else phrase
    if _HOW_MUCH_IS.fullmatch(asked[: match.start()].strip()):
        return topic.phrase
    if name and topic.is_of(name):
        return topic.full_name(name)
    if name:
        return ""  # `Who signed the contract with Globex?`: the contract, or Globex?
    if topic.parts_of("name"):
        return ""  # two of them: nobody can say which
    if own and topic.owner:
        return topic.owner
    # Of "How many days do employees get?" only a singular can be the days' own.
    return "" if topic.counts and match[0].lower() not in {"it", "its"} else topic.phrase


def _period(asked: str, words: str, topic: Topic) -> str:
    """The earlier period, for a question that asks for a sum and says no time itself."""
    period = single(topic.periods)
    said = of_kind(parts_in(asked), "period") or _TIMES.search(asked) or (period and period.text in words)
    sums = _SUMS.search(asked) and (re.search(rf"(?i)\b(?:{_CHANGE})\b", asked) or _asks_for_measure(asked))
    return f" in {period.text}" if period and not said and sums else ""


def _asks_for_measure(asked: str) -> bool:
    match = _PRONOUN.search(asked)
    return match is not None and is_measure(re.split(r"(?i)\s+(?:in|for|of|at|by)\s", asked[match.end() :])[0])


def _demonstrative(asked: str, topic: Topic) -> FollowUp | None:
    """ "in the same year", "that company", "this policy": the words that the earlier question had for it."""
    match = _DEMONSTRATIVE.search(asked)
    if match is None:
        return None
    noun, own = match["noun"], parts_in(asked)
    words = ""
    if _PERIOD.fullmatch(noun):
        period = single(topic.periods)
        words = period.text if period and not of_kind(own, "period") else ""
    elif _COMPANY.fullmatch(noun):
        name = single(topic.parts_of("name"))
        words = name.text if name and not of_kind(own, "name") else ""
    if not words and not _PERIOD.fullmatch(noun):
        same = topic.same_head(noun)
        words = f"the {topic.text[slice(*same)]}" if same else ""
    if not words:
        return None
    start = match.start()
    lone = _PERIOD.fullmatch(noun) and not re.search(r"(?i)\b(?:in|for|during|of|from|by)\s+$", asked[:start])
    text = f"{asked[:start]}{'in ' if lone else ''}{words}{asked[match.end() :]}"
    return FollowUp(_finished(text), continues=True)


def _finished(text: str) -> str:
    text = text.strip()
    return f"{text[0].upper()}{text[1:]}?"
