"""English follow-ups: "And in 2023?", "What about net income?", "How much did it grow?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kb_qa.follow_ups.carrying import Edit, FollowUp, edited, new_period, other_year, same_kind_edits
from kb_qa.follow_ups.parts import (
    Part,
    alike,
    is_measure,
    of_kind,
    parts_from,
    parts_in,
    parts_within,
    rest_of,
    single,
)
from kb_qa.follow_ups.pronouns import referring
from kb_qa.follow_ups.topic import PREPOSITION, Topic

_LEAD = re.compile(r"(?i)(?:(?:and|but|or|so|also|then|okay|ok|now|well|thanks|thank you|great|right)\b[,.! ]*)+")
_ABOUT = re.compile(r"(?i)(?:what about|how about|what of|(?:the )?same (?:question )?(?:for|in)?)\s+")
_ASKS = re.compile(
    r"(?i)(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has"
    r"|have|had|may|must|shall|please|give|show|list|tell|explain|describe|compare|find|summari[sz]e|if)\b"
)
_WHAT_IS = re.compile(r"(?i)(?:what|how (?:high|large|big|much))(?:'s|\s+(?:is|are|was|were))\s+")
_COMPARED = re.compile(r"(?i)(?:as )?(?:compared|in comparison)(?: (?:to|with))?\s+|(?:versus|vs\.?|against)\s+")
_SHIFTED = re.compile(
    r"(?i)(?:(?:in|for|during)\s+)?the (?:(?P<before>year before(?: that)?|previous year|prior year|preceding year)"
    r"|(?P<after>year after(?: that)?|following year|next year|subsequent year))"
)
_ARTICLE = re.compile(r"(?i)(?:the|a|an|its|their|his|her)\s+")
# What is computed of a measure and does not take its place.
_DERIVED = re.compile(r"(?i)(?:growth(?: rate)?|rate of growth|change|increase|decrease|decline|difference)")
_POINT = re.compile(r"(?i)(?:end|start|beginning)(?: of)?(?: the)?(?: fiscal| financial)?(?: year)?")
_DIVISIONS = (
    r"(?:segments?|regions?|divisions?|business(?:es)?|units?|departments?|subsidiar(?:y|ies)|plants?|offices?|markets?"
    r"|brands?|categor(?:y|ies)|branch(?:es)?)"
)
_DIVISION = re.compile(rf"(?i)\b{_DIVISIONS}$")
_THEN_DIVISION = re.compile(rf"(?i)\s+(?:[\w-]+\s+)?{_DIVISIONS}\b")  # `the Cartons segment` is no other company


def follow_up(asked: str, source: str) -> FollowUp | None:
    """`asked` after `source`, one sentence each; None where it is no follow-up, or nobody can say what it takes up."""
    bare = asked.rstrip("?.! ")
    lead = _LEAD.match(bare)
    rest = bare[lead.end() :] if lead else bare
    about = _ABOUT.match(rest)
    phrase = rest[about.end() :] if about else rest
    topic = Topic(source)
    shifted = _SHIFTED.fullmatch(phrase)
    if shifted:
        return other_year(topic.text, topic.periods, -1 if shifted["before"] else 1, mark="?")
    compared = _COMPARED.match(phrase)
    if compared:
        return _comparison(phrase[compared.end() :], topic)
    if _ASKS.match(phrase):
        found = referring(rest, topic) if not about else None
        return found or (_continued(rest, topic) if lead and not about else None)
    own = parts_from(bare, len(bare) - len(phrase))
    if not (lead or about) and not _only_parts(phrase, own):
        return None
    return _fragment(phrase, own, topic)


def _only_parts(phrase: str, own: Sequence[Part]) -> bool:
    """ "In 2023?", "P6?": nothing but periods and codes, which is no question unless it goes on with one."""
    rest = re.sub(rf"(?i)\b(?:{PREPOSITION}|the|fiscal|year)\b", " ", rest_of(phrase, own))
    return bool(own) and {part.kind for part in own} <= {"period", "code"} and not re.search(r"\w", rest)


def _comparison(phrase: str, topic: Topic) -> FollowUp | None:
    """ "Compared to 2023?" needs both periods."""
    own = parts_in(phrase)
    if not topic.phrase or not of_kind(own, "period") or not _only_parts(phrase, own):
        return None
    return FollowUp(f"How does {topic.whole} compare with {phrase.strip()}?", continues=True)


def _fragment(phrase: str, own: Sequence[Part], topic: Topic) -> FollowUp | None:
    """A piece of a question: each of its parts takes the place of the earlier question's part of that kind."""
    head, tails = _split(phrase)
    edits = same_kind_edits([part for part in own if not _THEN_DIVISION.match(phrase, part.end)], topic.parts)
    if edits is None or len(of_kind(own, "period")) > 1:
        return None
    added: list[str] = []
    for start, tail in tails:
        change = _tail(tail, parts_within(own, start, start + len(tail)), topic)
        if change is None:
            return None
        edits += change[0]
        added += change[1]
    named = [part for part in own if part.end <= len(head)]
    noun = _ARTICLE.sub("", rest_of(head, named).replace("'s", " "), count=1).strip(" ,")
    if noun and _DERIVED.fullmatch(noun) and topic.measure and not own:
        return FollowUp(f"What was the {noun} of {topic.phrase}{topic.when}?", continues=True)
    if noun:
        change = _noun(head, noun, named, topic)
        if change is None:
            return None
        edits = [*(edit for edit in edits if not _covered(edit, change[0])), *change[0]]
        added += change[1]
    else:
        for part in named:
            change = _bare(part, topic)
            if change is None:
                return None
            edits += change[0]
            added += change[1]
    return edited(topic.text, edits, added, mark="?") if edits or added else None


def _split(phrase: str) -> tuple[str, list[tuple[int, str]]]:
    """The head, and where each piece with a preposition begins: "net income | for Acme | in 2023"."""
    found = re.finditer(rf"(?i)(?<!\S)(?<!\bend )(?<!\bstart )(?<!\bbeginning )(?:{PREPOSITION})\s", phrase)
    starts = [match.start() for match in found]
    pieces = [(start, phrase[start:end].strip()) for start, end in pairwise([*starts, len(phrase)])]
    return phrase[: starts[0] if starts else len(phrase)].strip(), pieces


def _tail(tail: str, own: Sequence[Part], topic: Topic) -> tuple[list[Edit], list[str]] | None:
    """A piece with its preposition: a period or name for the earlier one, else one more limit to the question."""
    preposition, _, rest = rest_of(tail, own).partition(" ")
    noun = _ARTICLE.sub("", rest.replace("'s", " ").strip(" ,"), count=1).strip(" ,")
    if not noun and len(own) == 1:
        found = _bare(own[0], topic)
        return found if found is not None else (([], [tail]) if own[0].kind != "period" else None)
    if noun and of_kind(own, "period"):
        old = topic.period_limit if _POINT.fullmatch(noun) else None
        return ([(*old, tail)], []) if old else None
    if (
        noun
        and of_kind(own, "name")
        and any(topic.parts_of(kind) for kind in ("name", "code"))
        and not _limits_a_name(noun)
    ):
        return None
    old = topic.limit(preposition, noun)
    return ([(*old, tail)], []) if old else ([], [tail])


def _limits_a_name(noun: str) -> bool:
    """Whether the words beside a name say what it limits, such as `segment`."""
    return _DIVISION.search(noun) is not None or is_measure(noun)


def _bare(part: Part, topic: Topic) -> tuple[list[Edit], list[str]] | None:
    old = topic.parts_of(part.kind)
    if part.kind == "figure":
        return None
    if part.kind == "period":
        if not old:
            return [], [f"in {part.text}"]
        one = single(old)
        return None if one is None else ([(one.start, one.end, _in_place_of(one, part, topic))], [])
    if old:
        return ([], []) if single(old) else None  # `same_kind_edits` has put it in its place
    if part.kind == "region":
        return [], [f"in {part.text}"]
    return None


def _in_place_of(old: Part, fresh: Part, topic: Topic) -> str:
    """The fresh period; another year of a date that a year ends on keeps the day: `year ended December 31, 2022`."""
    ends = re.search(r"(?i)\b(?:ended|ending)\s+$", topic.text[: old.start])
    if ends and len(old.years) == 1 and re.fullmatch(r"(?a)\d{4}", fresh.text):
        return old.text.replace(old.years[0], fresh.text)
    return new_period(fresh, old, han=False)


def _noun(head: str, noun: str, named: Sequence[Part], topic: Topic) -> tuple[list[Edit], list[str]] | None:
    """What is asked of now in place of the earlier measure, or of the earlier phrase with the same last word."""
    if not is_measure(noun) and _DIVISION.search(noun):
        return [], [f"for {head if _ARTICLE.match(head) else f'the {head}'}"]
    if any(part.kind == "period" for part in named):
        return None  # "2023 net income" and the like: rare, and never sure where the year belongs
    words = _ARTICLE.sub("", head, count=1)
    if is_measure(noun) and topic.measure:
        if not alike(noun, topic.text[slice(*topic.measure)]):
            return None
        own = [part.text for part in named if part.kind in {"name", "code"}]
        place = topic.measure_with_owner if own else topic.measure
        return [(*place, words)] if place else [], []
    same = topic.same_head(noun.split()[-1]) if " " in noun or named else None
    if same and all(part.kind in {"name", "code"} for part in named):
        return [(*same, words)], []
    return None


def _covered(edit: Edit, changes: Sequence[Edit]) -> bool:
    """Whether a change takes the edit's place along with more: `Gold plan` with its `Gold`."""
    return any(start <= edit[0] and edit[1] <= end for start, end, _ in changes)


def _continued(rest: str, topic: Topic) -> FollowUp | None:
    """ "And what was net income?": the earlier owner and period, where both questions ask for a measure."""
    asks = _WHAT_IS.match(rest)
    if not asks or not topic.measure:
        return None
    phrase = rest[asks.end() :]
    own = parts_in(phrase)
    head, tails = _split(phrase)
    if of_kind(own, "name", "code", "figure") or not is_measure(rest_of(head, own)):
        return None
    if not alike(head, topic.text[slice(*topic.measure)]):
        return None
    owner, period = topic.owner, single(topic.periods)
    noun = _ARTICLE.sub("", head, count=1)
    said = f"{owner}'s {noun}" if owner and not owner.startswith("the ") else f"{head} of {owner}" if owner else head
    if not of_kind(own, "period") and period:
        tails = [*tails, (len(phrase), f"in {period.text}")]
    text = " ".join([f"{rest[: asks.end()].strip()} {said}", *(tail for _, tail in tails)])
    return FollowUp(f"{text[0].upper()}{text[1:]}?", continues=True) if owner or period else None
