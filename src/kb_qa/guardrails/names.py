"""Names and numbers of things: whether a source prints one as a whole."""

from __future__ import annotations

import re

from kb_qa.guardrails.characters import normalise


def is_printed(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` as a whole token, spaces, hyphens and letter case aside: `SKU 48213`.

    `A32` does not stand in `A320`, nor `section 4.2` in `section 4.2.1`.
    """
    characters = re.sub(r"[\s\u00a0–-]", "", normalise(phrase).text)
    if not characters:
        return False
    pattern = r"[\s\u00a0–-]{0,3}".join(re.escape(character) for character in characters)
    edged = rf"(?ai)(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9]|[.,]\d)"
    return re.search(edged, normalise(text).text) is not None
