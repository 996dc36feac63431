"""Which documents a question is about, by what they are called: file names, titles, the companies they are of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import PurePosixPath

from kb_qa.asked.reading import Asked
from kb_qa.protocols import Identity
from kb_qa.terms import terms

# Words of names that say what kind of thing is named: they tell no two documents of one store apart.
_FORMS = (
    "inc incorporated ltd limited corp corporation plc llc llp lp co company group holdings holding bancorp"
    " bancshares ag gmbh sa nv se trust fund annual report reports quarterly document documents file pdf docx"
    " final draft copy version scan other others total"
    " 其他 合计 公司 有限公司 股份 有限 集团 控股 股份有限公司 年度 报告"
    " 年度报告 年报 文件 文档"
)
# What ends as a sentence or leads to something is no name, nor is the heading of one note, item or chapter.
_SENTENCE = re.compile(r"(?ai)(?<!\binc)(?<!\bcorp)(?<!\bltd)(?<!\bco)(?<!\bbros)(?<!\b[a-z])[.:;。：；]\W*$")
_NUMBERED = re.compile(
    r"(?ai)\W*(?:notes?|items?|parts?|chapter|section)\s+\d|\d{1,2}(?:[.、)）]\s*|\s+)(?=[^\W\d])|[A-Z][.)]\s+\S+\s+\S"
    r"|第[\d一二三四五六七八九十]+[章节部条]|附注|[（(]?[一二三四五六七八九十]+[、)）]"
)
_CAPITAL = re.compile(r"[^\Wa-z_][\w&'’./-]*")
_HASH = re.compile(r"(?ai)[0-9a-f]{16,}")
# A word that so large a share of all documents is called by tells nothing.
_COMMON_SHARE = 0.5
_COMMON_WEIGHT = 0.2
_LEAST_SHARE = 0.6
_ONE_WORD = 0.6
_CLOSE = 0.75  # of two names, one of which is a slip of the pen
_MOST_NAMED = 20  # documents; a question that names more names none


@dataclass(slots=True)
class DocumentNames:
    """An index of what documents are called; made once for a state of the ledger."""

    identities: Mapping[str, Identity]
    _names: list[tuple[str, tuple[str, ...], bool]] = field(default_factory=list)
    _places: dict[str, list[int]] = field(default_factory=dict)  # a word that tells documents apart → names with it
    _common: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for each in self.identities.values():
            titles = [*map(_stem_of, each.names), each.title]
            called = (name for name in each.called if not _SENTENCE.search(name) and not _NUMBERED.match(name))
            for names, is_title in ((titles, True), (map(_capitals, called), False)):
                for words in dict.fromkeys(map(_telling, names)):
                    self._names.append((each.document_id, words, is_title))
        documents: dict[str, set[str]] = {}
        for document_id, words, _ in self._names:
            for word in words:
                documents.setdefault(word, set()).add(document_id)
        most = max(_COMMON_SHARE * len(self.identities), 1)
        self._common = frozenset(word for word, named in documents.items() if len(named) > most)
        for place, (_, words, _) in enumerate(self._names):
            for word in frozenset(words) - self._common:
                self._places.setdefault(word, []).append(place)

    def named_by(self, asked: Asked) -> Mapping[str, float]:
        """How surely the question is about each document, 0..1; those that it does not name are left out."""
        wanted = frozenset(asked.terms)
        things = frozenset(term for concept in asked.concepts for term in concept.own)
        # `Goodwill` at the head of a question is what is asked for, whatever chapter is called so.
        names = (frozenset(_telling(name.text)) for name in asked.names)
        named = [words for words in names if words and not words <= things]
        sure: dict[str, float] = {}
        for place in {place for word in wanted for place in self._places.get(word, ())}:
            document_id, words, is_title = self._names[place]
            by_all = self._by_all(frozenset(words), wanted) if is_title else 0.0
            value = max(self._by_name(words, named), by_all)
            sure[document_id] = max(sure.get(document_id, 0.0), value)
        found = {document_id: value for document_id, value in sure.items() if value}
        # What is said of all documents, or of very many, tells none of them.
        return found if len(found) <= _MOST_NAMED and len(found) < max(len(self.identities), 2) else {}

    def _by_name(self, words: Sequence[str], named: Sequence[frozenset[str]]) -> float:
        """How much of a name in the question is what the document is called; one word of a name that begins otherwise,
        as `America` in `North America`, says it less surely.
        """
        best = 0.0
        for name in named:
            share = self._weight(name.intersection(words)) / self._weight(name)
            if share >= _LEAST_SHARE:
                whole = share > 0.99 and (len(name) > 1 or words[0] in name)
                best = max(best, share if whole else share / 2)
        return best

    def _by_all(self, words: frozenset[str], wanted: frozenset[str]) -> float:
        """Whether the question holds the whole title: `travel policy`; one word says it less surely."""
        if not words <= wanted:
            return 0.0
        return 1.0 if len(words) > 1 else _ONE_WORD

    def _weight(self, words: frozenset[str]) -> float:
        return sum(_COMMON_WEIGHT if word in self._common else 1.0 for word in words)


@cache
def _forms() -> frozenset[str]:
    """When first needed: a process that asks nothing has no use for the Chinese dictionary, which takes a second."""
    return frozenset(term for word in _FORMS.split() for term in terms(word))


@lru_cache(maxsize=50_000)
def _telling(name: str) -> tuple[str, ...]:
    """The index terms of a name that tell it from others, in order.

    Kept: each document that comes or goes makes the index anew, of names that were all read before.
    """
    return tuple(term for term in terms(name) if term not in _forms())


def _capitals(name: str) -> str:
    """A name without the words that are written small in it: they name nothing."""
    return name if not name.isascii() else " ".join(_CAPITAL.findall(name))


def _stem_of(name: str) -> str:
    """A file name without its ending, and without the digits of a hash."""
    return _HASH.sub(" ", re.sub(r"[_\W]+", " ", PurePosixPath(name).stem))


def is_called(identity: Identity) -> Sequence[str]:
    """All that the document is called, for a reader of it or of its name."""
    return (*map(_stem_of, identity.names), identity.title, *identity.called)


def closest_name(wanted: str, identities: Mapping[str, Identity]) -> str:
    """The file name that `wanted` is most like, with or without folders; empty where none is much like it."""
    names = {name.lower(): name for each in identities.values() for name in each.names}
    names = {key.rpartition("/")[2]: name for key, name in names.items()} | names
    return "".join(names[each] for each in get_close_matches(wanted.lower(), names, n=1, cutoff=_CLOSE))
