"""How sure a measured share is: a small set says little, and every rate is printed with what it says."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Z95 = 1.96


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927)."""
    if not count:
        return 0.0, 1.0
    share = hits / count
    middle = (share + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
    reach = Z95 * sqrt(share * (1 - share) / count + Z95**2 / (4 * count**2)) / (1 + Z95**2 / count)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def paired(before: Sequence[bool], after: Sequence[bool]) -> tuple[float, float, float]:
    """How much larger the share of `after` is, and the 95 % interval of that, of outcomes on the same questions.

    Newcombe 1998, method 10: the Wilson intervals of both shares, and how closely the outcomes go together.
    """
    count = len(before)
    if len(after) != count:
        raise ValueError(f"{count} outcomes beside {len(after)}: they must be of the same questions")
    if not count:
        return 0.0, -1.0, 1.0
    ours, theirs = sum(after), sum(before)
    difference = (ours - theirs) / count
    low_ours, high_ours = (abs(end - ours / count) for end in wilson(ours, count))
    low_theirs, high_theirs = (abs(end - theirs / count) for end in wilson(theirs, count))
    phi = _correlation(before, after)
    low = sqrt(max(low_ours**2 - 2 * phi * low_ours * high_theirs + high_theirs**2, 0.0))
    high = sqrt(max(high_ours**2 - 2 * phi * high_ours * low_theirs + low_theirs**2, 0.0))
    return difference, max(difference - low, -1.0), min(difference + high, 1.0)


def _correlation(before: Sequence[bool], after: Sequence[bool]) -> float:
    """The phi coefficient of two outcomes, with the correction for continuity that the method asks for."""
    both = sum(one and other for one, other in zip(before, after, strict=True))
    neither = sum(not one and not other for one, other in zip(before, after, strict=True))
    only_before, only_after = sum(before) - both, sum(after) - both
    spread = (both + only_after) * (only_before + neither) * (both + only_before) * (only_after + neither)
    if not spread:
        return 0.0
    surplus = float(both * neither - only_before * only_after)
    if surplus > 0:
        surplus = max(surplus - len(before) / 2, 0.0)
    return surplus / sqrt(spread)


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the two nearest of the values, as numpy does; 0 where there are none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
