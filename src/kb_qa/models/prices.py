"""What tokens cost. Prices are US dollars a million tokens; amounts are whole billionths of a dollar."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from kb_qa.errors import InputError
from kb_qa.models.replies import HOUR_TOKENS

NANO_PER_DOLLAR = 1_000_000_000
NANO_PER_TOKEN = 1_000  # a dollar a million tokens is this much a token
_KINDS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars a million tokens."""

    input: float
    output: float
    cache_write_5m: float
    cache_write_1h: float
    cache_read: float

    @classmethod
    def of(cls, input: float, output: float, **given: float) -> Price:
        """What is not given of the cache follows the usual rates: 1.25 and 2 times the input to write, 0.1 to read."""
        usual = {"cache_write_5m": 1.25 * input, "cache_write_1h": 2 * input, "cache_read": 0.1 * input}
        return cls(input=input, output=output, **(usual | given))

    def cost(self, usage: Mapping[str, int]) -> int:
        """Billionths of a dollar for the tokens of a reply, rounded up."""
        written = usage.get("cache_creation_input_tokens", 0)
        for_an_hour = min(usage.get(HOUR_TOKENS, 0), written)
        dollars = (
            self.input * usage.get("input_tokens", 0)
            + self.cache_write_5m * (written - for_an_hour)
            + self.cache_write_1h * for_an_hour
            + self.cache_read * usage.get("cache_read_input_tokens", 0)
            + self.output * usage.get("output_tokens", 0)
        )
        return math.ceil(round(dollars * NANO_PER_TOKEN, 6))

    def most(self, input_tokens: int, output_tokens: int) -> int:
        """What a call costs at the most, nothing of it read from the cache."""
        dearest = max(self.input, self.cache_write_5m, self.cache_write_1h)
        return math.ceil((dearest * input_tokens + self.output * output_tokens) * NANO_PER_TOKEN)


# A starting point to be checked against one's own contract: `KB_QA_PRICES` replaces and adds.
PRICES: Mapping[str, Price] = {
    "claude-haiku-5-5": Price.of(1.0, 5.0),
    "claude-sonnet-5-5": Price.of(3.0, 15.0),
    "claude-opus-5-5": Price.of(5.0, 25.0),
}


def price_table(text: str) -> Mapping[str, Price]:
    """The prices by model id: the ones here, replaced and added to by a JSON object `{id: {input, output, …}}`.

    Raises InputError for what is no such object.
    """
    if not text:
        return PRICES
    try:
        given = json.loads(text)
        own = {str(model): _price(kinds) for model, kinds in given.items()}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(
            'KB_QA_PRICES must be JSON of the form {"MODEL-ID": {"input": 3, "output": 15}}, in dollars a million '
            f"tokens; cache_write_5m, cache_write_1h and cache_read may be given too ({error})"
        ) from error
    return {**PRICES, **own}


def _price(kinds: Mapping[str, object]) -> Price:
    unknown = set(kinds) - set(_KINDS)
    if unknown:
        raise ValueError(f"{min(unknown)!r} is no kind of token")
    values = {}
    for kind, value in kinds.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value < math.inf):
            raise ValueError(f"{kind} must be a number from 0 up, not {value!r}")
        values[kind] = float(value)
    return Price.of(values.pop("input"), values.pop("output"), **values)
