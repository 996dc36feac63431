"""What events say of figures, and the whole outcome of an answer from its events (FIGURES 3(g))."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from kb_qa.addresses import area_url
from kb_qa.answers import AnswerEvent
from kb_qa.geometry import Region
from kb_qa.guardrails.outcome import SUPPORTED, FigureOutcome, Place, place_data

Data = dict[str, Any]


def figure_data(figure: FigureOutcome) -> Data:
    """All that is known of a figure; each place says its document, and where its picture is."""
    data = figure.as_data()
    data["support"] = [_place(place) for place in figure.support]
    if figure.derivation is not None:
        operands = zip(figure.derivation.operands, figure.derivation.places, strict=True)
        data["derivation"]["places"] = [{"name": name, **_place(place)} for name, place in operands]
    if figure.reason is not None:
        data["reason"]["nearest"] = [_place(place) for place in figure.reason.nearest]
    return data


def _place(place: Place) -> Data:
    region = None if place.page is None else Region(place.page, place.bbox)
    bbox = None if place.bbox is None else list(place.bbox.rounded().as_tuple())
    url = area_url(place.document, region) if region is not None and place.document else None
    return {**place_data(place), "bbox": bbox, "document_id": place.document, "region_url": url}


def outcome_of_events(events: Sequence[AnswerEvent]) -> Data:
    """The outcome of an answer, complete or not: verdict, policy, every claim with its figures, and how many there are.

    `span` of a withheld claim is empty, at the place in the text where it would have stood.
    """
    start: Mapping[str, Any] = next((event.data for event in events if event.event == "start"), {})
    end: Mapping[str, Any] = next((event.data for event in events if event.event == "end"), {})
    claims: dict[int, Data] = {}
    for event in events:
        data = cast(Data, event.data)
        unit = data.get("unit", len(claims))  # answers from before events named it
        if event.event == "figure":
            figure = {key: value for key, value in data.items() if key not in {"n", "unit", "start", "end"}}
            claim = claims.setdefault(unit, {"unit": unit, "status": "released", "figures": []})
            claim["figures"].append(figure | {"span": [data["start"], data["end"]]})
        elif event.event == "withheld":
            claims[unit] = {
                "unit": unit, "status": "refused", "span": [data["at"], data["at"]], "figures": data["figures"],
            }  # fmt: skip
    for claim in claims.values():
        if "span" not in claim:
            spans = [figure["span"] for figure in claim["figures"]]
            claim["span"] = [min(each[0] for each in spans), max(each[1] for each in spans)]
    statuses = Counter(str(figure["status"]) for claim in claims.values() for figure in claim["figures"])
    return {
        "version": 1,
        "verdict": _verdict(statuses, refused=bool(end.get("refused"))),
        "policy": {"id": start.get("policy", ""), "hash": start.get("policy_hash", "")},
        "lang": start.get("language", ""),
        "text": "".join(str(event.data["text"]) for event in events if event.event == "delta"),
        "withheld": sum(claim["status"] == "refused" for claim in claims.values()),
        "claims": [claims[unit] for unit in sorted(claims)],
        "stats": _stats(statuses) | cast(Data, end.get("stats", {})),
    }


def _verdict(statuses: Mapping[str, int], *, refused: bool) -> str:
    if refused or any(status not in SUPPORTED for status in statuses):
        return "refuse"
    return "derived" if statuses.get("derived") else "pass"


def _stats(statuses: Mapping[str, int]) -> Data:
    supported = sum(count for status, count in statuses.items() if status in SUPPORTED)
    figures = sum(statuses.values())
    return {
        "figures": figures,
        "supported": supported,
        "derived": statuses.get("derived", 0),
        "refused": figures - supported,
        **{f"status.{name}": count for name, count in sorted(statuses.items())},
    }
