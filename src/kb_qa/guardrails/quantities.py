"""The nouns of the lexer: a quantity as it is printed, in normal form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Literal

Kind = Literal[
    "money",
    "count",
    "measure",
    "number",
    "percent",
    "pp",
    "multiple",
    "doubling",
    "date",
    "monthday",
    "period",
    "year",
    "time",
    "duration",
    "ordinal",
    "id",
    "ref",
    "marker",
    "enum",
]
Role = Literal["figure", "marker", "ref", "enum", "id"]
Bound = Literal["", ">", ">=", "<", "<="]
SignSource = Literal["none", "glyph", "paren", "word"]

# All arithmetic goes through this context: the caller's own decimal settings must not change a verdict.
CONTEXT = Context(prec=40)
ONE = Decimal(1)

PERIOD_KINDS: frozenset[Kind] = frozenset({"date", "monthday", "period", "year"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A printed quantity at `[start, end)` of the text it was read from; `raw` is that range.

    `value` is in base units with the scale applied and the sign: percent and percentage points in points (18.4), basis
    points as percentage points, dates in ISO form (`2025-03-31`), periods as `2025-03`, `2025Q3`, `2025H1`, `FY2025`,
    and with `--` for a year that is not printed (`--Q3`, `--03-31`). It is a string where the printed form has no
    single number: dates, ids, a range (`10..12`), a fraction that does not end (`2/3`), a vague word (`millions`).

    `lo` and `hi` are the rounding interval, or the ends of a printed range. `quantum` is one unit of the last printed
    place after the scale (4.1 billion: 1e8). `scale` is the printed power of ten. `currency` is an ISO code, or `$?` or
    `¥?` where only the sign is known. `readings` holds every value that an ambiguous grouping allows (`1.234`). `soft`
    marks a spelled-out count up to ten without a unit ("two reasons"). Source of the form: XBRL facts carry a rounding
    interval in the same way (Calculations 1.1).
    """

    kind: Kind
    value: Decimal | str
    start: int
    end: int
    raw: str = ""
    role: Role = "figure"
    lo: Decimal | None = None
    hi: Decimal | None = None
    quantum: Decimal = ONE
    scale: int = 0
    currency: str = ""
    unit: str = ""
    basis: str = ""
    sign: int = 0
    sign_source: SignSource = "none"
    approximate: bool = False
    bound: Bound = ""
    readings: tuple[Decimal, ...] = ()
    soft: bool = False

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def scaled(self) -> bool:
        return self.scale != 0

    @property
    def shown_value(self) -> str:
        """The value in plain digits, without trailing zeros: one text for one value."""
        return self.value if isinstance(self.value, str) else plain(self.value)


def amend(quantity: Quantity, **fields: object) -> Quantity:
    """The same quantity with other fields: for one that was just made and is nobody else's yet. A tenth of a copy."""
    for name, value in fields.items():
        object.__setattr__(quantity, name, value)
    return quantity


def scaled_by(quantity: Quantity, power: int) -> Quantity:
    """The quantity times ten to `power`, which something beside it states; one without a single number as it is."""
    if isinstance(quantity.value, str):
        return quantity
    return replace(
        quantity,
        value=CONTEXT.scaleb(quantity.value, power),
        quantum=CONTEXT.scaleb(quantity.quantum, power),
        lo=None if quantity.lo is None else CONTEXT.scaleb(quantity.lo, power),
        hi=None if quantity.hi is None else CONTEXT.scaleb(quantity.hi, power),
        scale=power,
        readings=tuple(CONTEXT.scaleb(each, power) for each in quantity.readings),
    )


def plain(value: Decimal) -> str:
    """`1.50E+3` → `1500`."""
    return format(CONTEXT.normalize(value) if value else Decimal(0), "f")


def interval(value: Decimal, quantum: Decimal) -> tuple[Decimal, Decimal]:
    """The values that print as `value` at `quantum`."""
    half = CONTEXT.divide(quantum, Decimal(2))
    return CONTEXT.subtract(value, half), CONTEXT.add(value, half)
