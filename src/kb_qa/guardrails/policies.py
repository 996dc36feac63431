"""What becomes of a figure without support: strict replaces its sentence, annotate marks it, off only logs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases
from kb_qa.guardrails.outcome import FigureOutcome
from kb_qa.guardrails.quantities import Kind

Mode = Literal["strict", "annotate", "off"]
Granularity = Literal["unit", "answer"]
Repair = Literal["", "recompute"]

_GRANULARITIES: tuple[Granularity, ...] = ("unit", "answer")
_RANK: dict[Mode, int] = {"off": 0, "annotate": 1, "strict": 2}
_GROUPS = {"id": "ids", "ref": "ids", "marker": "markers", "enum": "markers", "date": "periods", "year": "periods"}
_GROUPS |= {"period": "periods", "monthday": "periods"}
# What an override may name.
KINDS: frozenset[str] = frozenset(get_args(Kind)) | frozenset(_GROUPS.values())


@dataclass(frozen=True, slots=True)
class Policy:
    """`overrides` set another mode for a kind (`percent`) or a group of kinds (`ids`, `markers`, `periods`).

    `repair` "recompute": a wrong result of an expression whose operands are all bound is replaced by the right one.
    `granularity` "answer": one figure that may not be shown refuses the whole answer.
    `aliases` are pairs (said, canonical) of one knowledge base; `locale` holds where a document says nothing.
    """

    mode: Mode = "strict"
    granularity: Granularity = "unit"
    overrides: Mapping[str, Mode] = field(default_factory=dict)
    aliases: Aliases = DEFAULT_ALIASES
    locale: str = ""
    repair: Repair = ""

    @property
    def id(self) -> str:
        return self.mode

    @property
    def hash(self) -> str:
        """Twelve hex digits of everything that the policy says."""
        said = [self.mode, self.granularity, sorted(self.overrides.items()), self.aliases, self.locale, self.repair]
        return _digest(repr(said))

    def mode_of(self, figure: FigureOutcome) -> Mode:
        """The mode for one figure: its kind's, its group's, else the policy's."""
        group = _GROUPS.get(figure.kind, "")
        return self.overrides.get(figure.kind, self.overrides.get(group, self.mode))

    def withholds(self, figure: FigureOutcome) -> bool:
        """Whether the figure's unit may not be shown as it is."""
        return not figure.supported and self.mode_of(figure) == "strict"

    def marks(self, figure: FigureOutcome) -> bool:
        return not figure.supported and self.mode_of(figure) == "annotate"


@lru_cache(maxsize=64)
def _digest(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()[:12]


STRICT = Policy()


def policy_of(mode: str, kinds: str = "", aliases: Aliases = (), granularity: str = "unit") -> Policy:
    """The policy that is written as `annotate` and `ids=off,percent=strict`; `aliases` come before the usual ones.

    Raises ValueError for a mode, a kind or a granularity that there is not.
    """
    overrides: dict[str, Mode] = {}
    for part in filter(None, (each.strip() for each in kinds.split(","))):
        kind, _, said = (each.strip() for each in part.partition("="))
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of figure; there are {', '.join(sorted(KINDS))}")
        overrides[kind] = _mode(said)
    held = _granularity(granularity)
    return Policy(_mode(mode), held, overrides=overrides, aliases=(*aliases, *DEFAULT_ALIASES))


def _mode(said: str) -> Mode:
    for mode in _RANK:
        if said == mode:
            return mode
    raise ValueError(f"{said!r} is no policy; there are {', '.join(_RANK)}")


def _granularity(said: str) -> Granularity:
    for granularity in _GRANULARITIES:
        if said == granularity:
            return granularity
    raise ValueError(f"{said!r} is no granularity; there are {', '.join(_GRANULARITIES)}")


def is_stricter(first: Policy, second: Policy) -> bool:
    """Whether `first` is at least as strict in every kind: then it never releases more (invariant I5)."""
    kinds = {*first.overrides, *second.overrides}
    pairs = [(first.mode, second.mode)]
    pairs += [(first.overrides.get(kind, first.mode), second.overrides.get(kind, second.mode)) for kind in kinds]
    if (first.repair and not second.repair) or (first.granularity == "unit" != second.granularity):
        return False
    return all(_RANK[mine] >= _RANK[theirs] for mine, theirs in pairs)
