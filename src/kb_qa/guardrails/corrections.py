"""A wrong result in the answer's own form: what an expression gives, printed as the answer printed its figure."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, DecimalException

from kb_qa.guardrails.messages import recomputed_text
from kb_qa.guardrails.quantities import CONTEXT, ONE, Quantity

_FACE = re.compile(r"(?a)\d[\d,]*(?:\.\d+)?")


def corrected_raw(claim: Quantity, value: Decimal, language: str) -> str:
    """`15.7%` with a recomputed 16.69 becomes `16.7% [recomputed]`; empty where the form cannot take the value.

    Only what has one run of digits takes another, and only a value of the same sign: words around a figure that name
    a fall would be wrong beside a rise.
    """
    faces = _FACE.findall(claim.raw)
    if len(faces) != 1 or not isinstance(claim.value, Decimal) or (value < 0) != (claim.value < 0) or not value:
        return ""
    places = len(faces[0].partition(".")[2])
    try:
        unscaled = abs(CONTEXT.scaleb(value, -claim.scale))
        printed = unscaled.quantize(CONTEXT.scaleb(ONE, -places), rounding=ROUND_HALF_UP, context=CONTEXT)
    except DecimalException:
        return ""
    grouped = "," in faces[0] or (claim.kind == "money" and printed >= 1000)
    face = f"{printed:,.{places}f}" if grouped else f"{printed:.{places}f}"
    return f"{claim.raw.replace(faces[0], face, 1)}{recomputed_text(language)}"
