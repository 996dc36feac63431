"""Whether figures are in the currency that a question asks for: `$` alone says which only beside other evidence."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from kb_qa.answers import Context
from kb_qa.extraction.candidates import Candidate
from kb_qa.guardrails.measures import NAMED_UNIT, named_unit

# Signs that several currencies share, and those that print one of them.
_SIGNS = {"$?": frozenset("USD AUD CAD HKD SGD NZD TWD".split()), "¥?": frozenset({"CNY", "JPY"})}
_FOREIGN = 2  # so often another currency is named where it is the document's own


def is_in(currency: str, candidate: Candidate, context: Context) -> bool:
    """Whether what the block counts in is `currency`, by its own words, its headings', or its document's materials."""
    own = _named(candidate.text)
    if currency in own:
        return True
    if any(code not in _SIGNS for code in own):
        return False
    if own and not any(currency in _SIGNS[sign] for sign in own):
        return False
    document: Counter[str] = Counter()
    for material in context.materials:
        if material.chunk.document_id == candidate.material.chunk.document_id:
            document.update(_named(material.chunk.labelled_text))
    if document[currency]:
        return True
    others = sum(count for code, count in document.items() if code not in _SIGNS)
    return currency == "USD" and bool(document["$?"]) and others < _FOREIGN


@lru_cache(maxsize=4096)
def _named(text: str) -> Counter[str]:
    """ISO codes and shared signs of the currencies that a text names, and how often."""
    names = (named_unit(match[0]) for match in NAMED_UNIT.finditer(text))
    return Counter(name for name in names if name in _SIGNS or (len(name) == 3 and name.isupper()))
