"""The outcome of a check: one object per answer, the same bytes for the same input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kb_qa.geometry import BBox

Status = Literal[
    "exact",
    "rounded",
    "converted",
    "counted",
    "derived",
    "corrected",
    "question_echo",
    "exempt",
    "unsupported",
    "misbound",
    "contradicted",
    "wrong_citation",
    "false_precision",
    "conflict",
    "low_confidence",
    "unparsed",
]
ClaimStatus = Literal["released", "refused", "corrected"]
VerdictWord = Literal["pass", "derived", "refuse"]

SUPPORTED: frozenset[Status] = frozenset(
    {"exact", "rounded", "converted", "counted", "derived", "corrected", "question_echo", "exempt"}
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a figure stands: `bbox` is the cell's for a table. `value` is in base units, `match` says how it agrees."""

    element: str
    page: int | None
    bbox: BBox | None
    printed: str
    value: str
    match: str = ""
    cell: tuple[int, int] | None = None
    row: str = ""
    col: str = ""
    scale_from: str = ""
    currency_from: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class DerivationShown:
    """How a figure was computed: `expr` over F-numbers, `shown` over printed values, `places` one for each operand."""

    op: str
    expr: str
    shown: str
    operands: tuple[str, ...]
    places: tuple[Place, ...]
    origin: str
    coincidence: str = "0"
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    code: str
    detail: str
    nearest: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureOutcome:
    """One figure at `[start, end)` of the answer's visible text."""

    raw: str
    start: int
    end: int
    kind: str
    value: str
    status: Status
    quantum: str = ""
    approximate: bool = False
    bound: str = ""
    support: tuple[Place, ...] = ()
    derivation: DerivationShown | None = None
    reason: Reason | None = None
    annotations: tuple[str, ...] = ()
    number: str = ""  # of a list item
    corrected: str = ""  # what is printed in place of `raw` (status `corrected`)

    @property
    def supported(self) -> bool:
        return self.status in SUPPORTED

    def as_data(self) -> dict[str, Any]:
        return {
            "raw": self.raw,
            "span": [self.start, self.end],
            "quantity": {
                "kind": self.kind,
                "value": self.value,
                "quantum": self.quantum,
                "approx": self.approximate,
                "bound": self.bound,
            },
            "status": self.status,
            "support": [place_data(place) for place in self.support],
            "derivation": _derivation_data(self.derivation),
            "reason": _reason_data(self.reason),
            "annotations": list(self.annotations),
            **({"corrected": self.corrected} if self.corrected else {}),
        }


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """One unit (sentence, list item, table row) at `[start, end)` of the answer's visible text; `text` as released."""

    unit: int
    start: int
    end: int
    status: ClaimStatus
    text: str
    figures: tuple[FigureOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`text` is what the policy releases; `visible` is the answer without its expressions, which spans count from."""

    verdict: VerdictWord
    language: str
    text: str
    visible: str
    claims: tuple[ClaimOutcome, ...]
    policy_id: str = "strict"
    policy_hash: str = ""
    withheld: int = 0
    stats: Mapping[str, int] = field(default_factory=dict)
    notices: tuple[
        str, ...
    ] = ()  # `no_evidence`, `no_figure`: a figure is asked for, and nothing supports or gives one

    @property
    def figures(self) -> tuple[FigureOutcome, ...]:
        return tuple(figure for claim in self.claims for figure in claim.figures)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """The printed forms of the figures without support, in order."""
        return tuple(figure.raw for figure in self.figures if not figure.supported)

    def as_data(self) -> dict[str, Any]:
        return {
            "version": 1,
            "verdict": self.verdict,
            "policy": {"id": self.policy_id, "hash": self.policy_hash},
            "lang": self.language,
            "text": self.text,
            "withheld": self.withheld,
            "claims": [
                {
                    "unit": claim.unit,
                    "span": [claim.start, claim.end],
                    "status": claim.status,
                    "figures": [figure.as_data() for figure in claim.figures],
                }
                for claim in self.claims
            ],
            "stats": dict(self.stats),
            "notices": list(self.notices),
        }

    def as_json(self) -> str:
        return json.dumps(self.as_data(), ensure_ascii=False, separators=(",", ":"))


def place_data(place: Place) -> dict[str, Any]:
    return {
        "element": place.element,
        "page": place.page,
        "bbox": list(place.bbox.as_tuple()) if place.bbox else None,
        "cell": list(place.cell) if place.cell else None,
        "row": place.row,
        "col": place.col,
        "printed": place.printed,
        "value": place.value,
        "scale_from": place.scale_from,
        "currency_from": place.currency_from,
        "match": place.match,
    }


def _derivation_data(derivation: DerivationShown | None) -> dict[str, Any] | None:
    if derivation is None:
        return None
    return {
        "op": derivation.op,
        "expr": derivation.expr,
        "shown": derivation.shown,
        "operands": list(derivation.operands),
        "places": [place_data(place) for place in derivation.places],
        "origin": derivation.origin,
        "coincidence": derivation.coincidence,
        "warning": derivation.warning,
    }


def _reason_data(reason: Reason | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    return {"code": reason.code, "detail": reason.detail, "nearest": [place_data(each) for each in reason.nearest]}
