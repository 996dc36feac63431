"""What both languages share: putting a new question's parts in the place of an earlier one's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kb_qa.follow_ups.parts import Part, is_measure, of_kind, parts_in, replaced, rest_of, single

Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """`continues` says that the question takes up the one before, in whatever words."""

    text: str
    continues: bool = False


def new_period(fresh: Part, old: Part, *, han: bool) -> str:
    """The fresh period in the old one's year, where it says none itself: `Q2` after `Q3 2024` is `Q2 2024`."""
    if fresh.years or len(old.years) != 1:
        return fresh.text
    return f"{old.years[0]}年{fresh.text}" if han else f"{fresh.text} {old.years[0]}"


def shifted_year(old: Part, by: int) -> str:
    """The year `by` after the one that the part is; empty where it is no plain year."""
    match = re.fullmatch(r"(?a)(FY\s?|fiscal year |fiscal )?(\d{4})(年度?)?", old.text)
    return f"{match[1] or ''}{int(match[2]) + by}{match[3] or ''}" if match else ""


def same_kind_edits(fresh: Sequence[Part], source: Sequence[Part]) -> list[Edit] | None:
    """Codes and names of the source, each kind with one of its own, in the fresh ones' words; None where unsure."""
    edits: list[Edit] = []
    for kind in ("code", "name", "region"):
        own, old = of_kind(fresh, kind), of_kind(source, kind)
        if not own or not old:
            continue
        if single(own) is None or single(old) is None:
            return None
        edits += [(part.start, part.end, own[0].text) for part in old]
    return edits


def edited(text: str, edits: Sequence[Edit], added: Sequence[str] = (), *, mark: str) -> FollowUp | None:
    """The earlier question with the edits made and `added` behind it; None where two of them want one place."""
    unique = sorted(set(edits))
    if any(first[1] > second[0] for first, second in pairwise(unique)):
        return None
    words = replaced(text, unique).rstrip("?？.。！! \u3000")
    return FollowUp(" ".join([words, *added]) + mark, continues=True)


def other_year(text: str, periods: Sequence[Part], by: int, *, mark: str) -> FollowUp | None:
    """The earlier question `by` years later, where it names one plain year."""
    old = single(periods)
    year = shifted_year(old, by) if old else ""
    return edited(text, [(part.start, part.end, year) for part in periods], mark=mark) if year else None


_MIXED_EN = re.compile(
    r"(?i)(?:and|but|or|so|what|how|about|in|for|at|of|during|the|same|is|was|it|were|\s|[?.!,'’s])*"
)
_MIXED_HAN = re.compile(r"(?:那么?|请问|呢|的|在|是|为|多少|换成|改成|还有|\s|[？?。，,])*")
_QUESTION_HAN = re.compile(
    r"请问|(?:是|为|有|达到?)*(?:多少|几|什么|怎样|如何|多[大高长久])\S{0,2}$|[？?。！!]|(?<!\S)的|的(?!\S)"
)
_QUESTION_EN = re.compile(r"(?i)^(?:what|how|which|who)(?: (?:much|many|is|are|was|were|did|does|do))*\b|[?.!]")


def mixed(asked: str, source: str) -> FollowUp | None:
    """A bare period, code or name after a question in the other language: the earlier topic goes along as it stands."""
    own = parts_in(asked)
    rest = rest_of(asked, own)
    if not own or of_kind(own, "figure") or not (_MIXED_EN.fullmatch(rest) or _MIXED_HAN.fullmatch(rest)):
        return None
    kinds = {part.kind for part in own}
    dropped = [part for part in parts_in(source) if part.kind in kinds]
    body = rest_of(source, dropped)
    topic = " ".join(_QUESTION_EN.sub(" ", _QUESTION_HAN.sub(" ", body)).split())
    topic = re.sub(r"(?i)\s+(?:in|for|at|of|during|on)$", "", topic)
    if not topic or not any(is_measure(word) for word in (topic, *topic.split())):
        return None
    bare = asked.rstrip("?？。.!！ ")
    return FollowUp(
        f"{bare}（{topic}）？" if re.search("[\u4e00-\u9fff]", bare) else f"{bare} ({topic})?", continues=True
    )
