"""Answers in another script than their source: no word can be shared, so the cited block itself binds the figure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb_qa.guardrails.bind import Claim, bind
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.values import compare

_HAN = re.compile("[\u3400-\u9fff]")


def cited_across_scripts(claim: Claim, cited: Sequence[Fact], facts: Sequence[Fact]) -> tuple[list[Fact], str]:
    """The facts of the cited blocks that have the claim's value and period, where only the script keeps the words
    apart, and how their value agrees. Empty where the words could have been shared."""
    equal = {id(fact): agreement for fact in facts if (agreement := compare(claim.quantity, fact).agreement)}
    apart = [fact for fact in cited if id(fact) in equal and _is_apart(claim, fact)]
    bindings = bind(claim, apart, facts, frozenset(equal))
    bound = [binding.fact for binding in bindings if binding.rule in {"", "unbound"}]
    first = min((equal[id(fact)] for fact in bound), default="")  # `exact` before `rounded`
    return [fact for fact in bound if equal[id(fact)] == first], first


def _is_apart(claim: Claim, fact: Fact) -> bool:
    """Whether the claim has words, the fact has labels, and all of one are Han and none of the other."""
    mine, theirs = claim.words, fact.labels | fact.context
    if not mine or not theirs:
        return False
    han = [_is_han(words) for words in (mine, theirs)]
    return None not in han and han[0] != han[1]


def _is_han(words: frozenset[str]) -> bool | None:
    """None for words of both scripts. Codes and names in Latin letters (`P5`) stand in Chinese texts too."""
    named = [word for word in words if not any(character.isdigit() for character in word)]
    found = [_HAN.search(word) is not None for word in named]
    return found[0] if found and len(set(found)) == 1 else None
