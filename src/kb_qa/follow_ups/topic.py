"""What an English question is about: its measure, whose it is, when, and within which limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from kb_qa.follow_ups.parts import Part, PartKind, is_measure, of_kind, parts_in, replaced, single

PREPOSITION = r"in|for|at|of|during|from|by|per|on|with|within|among|under|over|between|as of|as at|since|until|to"
Place = tuple[int, int]

_FRAME = re.compile(
    r"(?i)(?:(?:please|and|so)\s+)*(?:(?:what|who|how (?:high|large|big|much|long|old))(?:'s|’s|\s+(?:is|are|was|were"
    r"|will be))|how (?:much|many)(?!\s+(?:is|are|was|were|do|does|did|can|has|have|had)\b)"
    r"|(?:tell|give|show)(?: me)?(?: about)?)\s+"
)
_HOW_MUCH = re.compile(r"(?i)how (?:much|many)\s+(.+?)\s+(?:do|does|did|is|are|was|were|has|have|had|can|will)\b")
# "What does the travel policy say …": what a question without measure is about.
_SUBJECT = re.compile(
    r"(?i)(?:(?:what|how|when|where|why)\s+)?(?:do|does|did|can|could|must|should|will|may)\s+((?:the|a|an|our|my)\s+"
    r"(?:[\w-]+\s+){0,3}?[\w-]+)\s+(?:say|state|cover|require|allow|apply|include|provide|mean|cost|take|work|need|last"
    r"|expire|contain|define|grant|permit|prohibit|offer|support|start|end|be)\b"
)
_QUESTION = re.compile(
    r"(?i)(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has"
    r"|have|had|may|must|if)\b"
)
_END = re.compile(
    rf"(?i)\s+(?:{PREPOSITION})\s|\s+(?:do|does|did|is|are|was|were|has|have|had|can|will|compared|that|which|when|if)\b|[,;(]"
)
_AUXILIARY = r"do|does|did|is|are|was|were|has|have|had|can|could|will|would|may|must|should"
_STATES = re.compile(
    r"(?i)\s+(?:valid|open|available|allowed|required|due|closed|long|big|large|high|old|paid|based|located|used)$"
)
_ARTICLE = re.compile(r"(?i)(?:the|a|an|our|my)\s+")
_BEFORE_A_PHRASE = frozenset(
    "the a an of for is are was were does do did our my your and or in on at to much many how what which who when"
    " where why can may must should will with by from about any each".split()
)
_PERSONAL = re.compile(r"(?i)\bwho\b")


@dataclass(frozen=True)
class Topic:
    """One English question. Places are `[start, end)` of `text`."""

    text: str

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return parts_in(self.text)

    def parts_of(self, kind: PartKind) -> tuple[Part, ...]:
        return of_kind(self.parts, kind)

    @property
    def periods(self) -> tuple[Part, ...]:
        return self.parts_of("period")

    @cached_property
    def head(self) -> Place | None:
        """The noun phrase behind the question words, up to its first preposition or verb: `Northfell's net sales`."""
        much = _HOW_MUCH.match(self.text)
        if much:
            return much.span(1)
        subject = _SUBJECT.match(self.text)
        if subject:
            return subject.span(1)
        frame = _FRAME.match(self.text)
        if not frame and _QUESTION.match(self.text):
            return None
        start = frame.end() if frame else 0
        if not frame and _END.search(self.text) is None and not self.parts:
            return None
        first = self.parts[0] if self.parts and self.parts[0].start == start else None
        end = _END.search(self.text, first.end if first else start)
        stop = end.start() if end else len(self.text.rstrip("?.! "))
        state = _STATES.search(self.text, start, stop)
        stop = state.start() if state and state.end() == stop else stop
        return (start, stop) if stop > start and len(self.text[start:stop].split()) <= 8 else None

    @property
    def counts(self) -> bool:
        """Whether it asks how much or how many there are of the head."""
        return _HOW_MUCH.match(self.text) is not None

    @cached_property
    def measure(self) -> Place | None:
        """The measure within the head, without article and owner: `net sales`."""
        if self.head is None:
            return None
        start, end = self.head
        for part in self.parts:
            if start <= part.start and part.end <= end and re.match(r"['’]s\s", self.text[part.end :]):
                start = part.end + 3
            elif start <= part.start and part.end <= end:
                start = max(start, part.end + 1)
        owner = re.search(r"(?i)['’]s?\s+", self.text[start:end])
        if owner:
            start += owner.end()
        article = _ARTICLE.match(self.text, start, end)
        start = article.end() if article else start
        return (start, end) if start < end and is_measure(self.text[start:end]) else None

    @property
    def measure_with_owner(self) -> Place | None:
        """The measure and what stands before it in the head: `Northfell's net sales`."""
        return (self.head[0], self.measure[1]) if self.head and self.measure else None

    @cached_property
    def owner(self) -> str:
        """The company, product or code that the measure is of; else the words of the head before it. May be empty."""
        for kind in ("name", "code"):
            named = single(self.parts_of(kind))
            if named:
                return re.sub(r"['’]s$", "", named.text)
        if self.head is None or self.measure is None:
            return ""
        before = self.text[self.head[0] : self.measure[0]].strip()
        return re.sub(r"['’]s?$", "", before) if re.search(r"['’]s?$", before) else ""

    @cached_property
    def phrase(self) -> str:
        """The head with its limits and without its period: `the base salary of P5`."""
        if self.head is None:
            return ""
        limits = [self.text[start:end] for start, end, _ in self._limits if not self._is_period(start, end)]
        start, stop = self.head
        text = replaced(self.text[start:stop], [(p.start - start, p.end - start, "") for p in self.periods
                        if start <= p.start and p.end <= stop])  # fmt: skip
        return " ".join(" ".join([text, *limits]).split())

    def is_of(self, name: Part) -> bool:
        """Whether the question is one about what is named, and not about something that stands beside it."""
        before, after = self.text[: name.start], self.text[name.end :]
        return (
            self.measure is not None
            or re.match(r"['’]s\b", after) is not None
            or re.search(rf"(?i)\b(?:of(?: the)?|{_AUXILIARY})\s+$", before) is not None
        )

    def full_name(self, name: Part) -> str:
        """The name with the word that it stands before: `the Gold plan`."""
        words = re.search(rf"(?i)\bthe {re.escape(name.text)} ([a-z]+)(?=$|[?.!,]|\s(?:{PREPOSITION})\b)", self.text)
        return words[0] if words else re.sub(r"['’]s$", "", name.text)

    @property
    def when(self) -> str:
        """` in 2024`, or nothing where there are no or several periods."""
        period = single(self.periods)
        return f" in {period.text}" if period else ""

    @property
    def whole(self) -> str:
        """The phrase in its period."""
        return f"{self.phrase}{self.when}"

    @property
    def is_person(self) -> bool:
        return _PERSONAL.match(self.text) is not None

    @property
    def period_limit(self) -> Place | None:
        """The limit that is the question's one period: `in 2024`."""
        period = single(self.periods)
        found = [(start, end) for start, end, word in self._limits
                 if period and self.text[start:end].lower() == f"{word} {period.text}".lower()]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def limit(self, preposition: str, noun: str) -> Place | None:
        """The earlier limit that a new one of the same preposition and last word takes the place of."""
        last = noun.split()[-1].lower() if noun else ""
        same = [(start, end) for start, end, found in self._limits if found == preposition.lower()]
        for start, end in same:
            words = re.findall(r"[\w-]+", self.text[start:end].lower())
            if last and (last in words or last.rstrip("s") in words):
                return start, end
        # Another of what anybody can be: `to fathers`; a company's or a year's place is not taken by other words.
        plain = [place for place in same if not any(place[0] <= part.start < place[1] for part in self.parts)]
        return plain[0] if len(plain) == len(same) == 1 else None

    def same_head(self, last: str) -> Place | None:
        """The phrase of the question that ends in this word, the word alone left out: `annual leave` for `leave`."""
        words = list(re.finditer(r"[\w'’-]+", self.text))
        for index, word in enumerate(words):
            first = index
            while first and index - first < 3 and words[first - 1][0].lower() not in _BEFORE_A_PHRASE:
                first -= 1
            if word[0].lower() == last.lower() and first < index:
                return words[first].start(), word.end()
        return None

    @cached_property
    def _limits(self) -> tuple[tuple[int, int, str], ...]:
        """Pieces that begin with a preposition, behind the head: (start, end, preposition)."""
        if self.head is None:
            return ()
        stop = len(self.text.rstrip("?.! "))
        found = re.finditer(rf"(?i)(?<=\s)({PREPOSITION})\s", self.text)
        starts = [(match.start(), match[1].lower()) for match in found if match.start() >= self.head[1]]
        return tuple(
            (start, start + len(self.text[start:end].rstrip()), preposition)
            for (start, preposition), (end, _) in pairwise([*starts, (stop, "")])
        )

    def _is_period(self, start: int, end: int) -> bool:
        return any(start <= part.start and part.end <= end for part in self.periods)
