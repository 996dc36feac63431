"""Scores read lines against lines that people marked: character error rate and how well boxes agree.

Words go to the marked line that covers most of them, so reading order and how lines were split play no part in the
error rate; they show in the line boxes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from kb_qa.geometry import BBox


@dataclass(frozen=True, slots=True)
class Placed:
    """A text and where it stands."""

    text: str
    bbox: BBox


@dataclass(frozen=True, slots=True)
class LineScore:
    """One marked line: its characters, how many edits what was read is away, and the IoU of the best line box."""

    characters: int
    edits: int
    iou: float
    text: str = ""
    read: str = ""


def iou(one: BBox, other: BBox) -> float:
    shared = one.intersection(other)
    inner = shared.area if shared is not None else 0.0
    union = one.area + other.area - inner
    return inner / union if union else 0.0


def edits(expected: str, read: str, *, spaces: bool = True) -> int:
    if not spaces:
        expected, read = "".join(expected.split()), "".join(read.split())
    return int(Levenshtein.distance(" ".join(expected.split()), " ".join(read.split())))


def score_lines(
    marked: Sequence[Placed], words: Sequence[Placed], lines: Sequence[BBox], *, spaces: bool = True
) -> list[LineScore]:
    """A score a marked line. Words on none of them are edits of a last score without characters or box (IoU 1)."""
    inside: dict[int, list[Placed]] = {}
    for word in words:
        best = max(range(len(marked)), key=lambda index: word.bbox.overlap(marked[index].bbox), default=-1)
        at = best if best >= 0 and word.bbox.overlap(marked[best].bbox) >= 0.3 else -1
        inside.setdefault(at, []).append(word)
    boxes = _one_to_one(marked, lines)
    scores = []
    for index, line in enumerate(marked):
        read = " ".join(word.text for word in sorted(inside.get(index, ()), key=lambda word: word.bbox.x0))
        count = len(line.text if spaces else "".join(line.text.split()))
        scores.append(LineScore(count, edits(line.text, read, spaces=spaces), boxes.get(index, 0.0), line.text, read))
    stray = "".join(word.text for word in inside.get(-1, ()))
    return [*scores, LineScore(0, len(stray), 1.0, "", stray)] if stray else scores


def _one_to_one(marked: Sequence[Placed], lines: Sequence[BBox]) -> dict[int, float]:
    """The IoU of each marked line with its own read line, best pairs first."""
    pairs = sorted(
        ((iou(line.bbox, box), at, other) for at, line in enumerate(marked) for other, box in enumerate(lines)),
        reverse=True,
    )
    found: dict[int, float] = {}
    taken: set[int] = set()
    for value, at, other in pairs:
        if value > 0 and at not in found and other not in taken:
            found[at] = value
            taken.add(other)
    return found


def error_rate(scores: Sequence[LineScore]) -> float:
    return sum(score.edits for score in scores) / max(sum(score.characters for score in scores), 1)


def error_interval(scores: Sequence[LineScore], *, rounds: int = 1000) -> tuple[float, float]:
    """95 % of the error rates of lines drawn anew (bootstrap, fixed seed)."""
    dice = random.Random(0)
    rates = sorted(error_rate(dice.choices(scores, k=len(scores))) for _ in range(rounds))
    return rates[round(0.025 * rounds)], rates[round(0.975 * rounds) - 1]
