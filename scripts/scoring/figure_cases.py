"""Cases for the numeric guard, made from data that others labelled: a real system's answers, gold answers, and gold
answers with one thing changed. The same seed makes the same cases.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context
from pathlib import Path
from typing import Any

from kb_qa.guardrails.expressions import evaluate, literals, parse

SEED = 0
_DIGITS = Context(prec=12)
_SCALES = ("thousand", "million", "billion")
_NUMBER = re.compile(r"(?a)\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class FigureCase:
    """One answer to check. Only figures inside `keyword` are judged, where it is given; `unsupported` must be named."""

    set: str
    id: str
    sources: Sequence[dict[str, Any]]
    question: str
    answer: str
    accept: bool
    keyword: str = ""
    verdict: str = ""
    unsupported: tuple[str, ...] = field(default=())


def open_cases(path: Path) -> Iterator[FigureCase]:
    for case in _lines(path):
        yield FigureCase(
            "open",
            case["id"],
            case["sources"],
            case["question"],
            case["answer"],
            accept=case["expected"] != "refuse",
            verdict=case["expected"],
            unsupported=tuple(case["unsupported"]),
        )


def uhgeval_cases(path: Path) -> Iterator[FigureCase]:
    for number, row in enumerate(_lines(path)):
        sources = [{"id": "evidence", "text": row["evidence"], "element_type": "text", "page": 1}]
        accept = row["label"] == "supported"
        yield FigureCase("uhgeval", f"{row['id']}.{number}", sources, "", row["claim"], accept, keyword=row["keyword"])


def tatqa_cases(folder: Path, *, sentence: bool = False) -> Iterator[FigureCase]:
    """`sentence`: the answer is a sentence and not the bare figure."""
    random_source = random.Random(SEED)
    contexts = json.loads((folder / "contexts.json").read_text(encoding="utf-8"))
    sources = {context["table"]["uid"]: context_sources(context) for context in contexts}
    shape = "The answer is {}." if sentence else "{}"
    for row in _lines(folder / "predictions.jsonl"):
        answer = shape.format(_figure(_plain(row["pred"]), row["pred_scale"]))
        label = row["label"]
        yield FigureCase(
            f"predictions {label}", row["uid"], sources[row["table_uid"]], row["question"], answer, label == "correct"
        )
    for context in contexts:
        given = sources[context["table"]["uid"]]
        for question in context["questions"]:
            made = _lookups(context, question, random_source)
            if question["answer_type"] == "arithmetic":
                made = _arithmetic(context, question, random_source)
            for name, answer, accept in made:
                yield FigureCase(name, question["uid"], given, question["question"], shape.format(answer), accept)


def context_sources(context: dict[str, Any]) -> list[dict[str, Any]]:
    rows = context["table"]["table"]
    lines = ["| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    paragraphs = sorted(context["paragraphs"], key=lambda paragraph: int(paragraph["order"]))
    texts = [("text", paragraph["text"]) for paragraph in paragraphs]
    return [
        {"id": f"s{number}", "text": text, "element_type": kind, "page": 1}
        for number, (kind, text) in enumerate([("table", "\n".join(lines)), *texts], 1)
    ]


def _plain(value: float | str) -> str:
    """A system's float without the noise of its last bits."""
    number = _DIGITS.normalize(_DIGITS.create_decimal(str(value)))
    return format(number, "f")


def _figure(printed: str, scale: str) -> str:
    if scale == "percent":
        return printed if printed.endswith("%") else f"{printed}%"
    return f"{printed} {scale}" if scale else printed


def _lookups(
    context: dict[str, Any], question: dict[str, Any], random_source: random.Random
) -> Iterator[tuple[str, str, bool]]:
    """Span answers that are one cell of the table with one number, as printed and with one thing changed."""
    answer, scale = question["answer"], question["scale"]
    if question["answer_type"] != "span" or len(answer) != 1 or question["answer_from"] == "text":
        return
    printed, rows = str(answer[0]).strip(), context["table"]["table"]
    cells = [cell.strip() for row in rows[1:] for cell in row[1:] if _is_value(cell)]
    if not _is_value(printed) or printed not in cells:
        return
    yield "lookup gold", _figure(printed, scale), True
    others = sorted({cell for cell in cells if _digits(cell) != _digits(printed)})
    if others:
        yield "lookup other cell", _figure(random_source.choice(others), scale), False
    yield "lookup one digit", _figure(_one_digit(printed, random_source), scale), False
    if scale != "percent" and "%" not in printed:
        wrong = random_source.choice([each for each in _SCALES if each != scale])
        yield "lookup scale", _figure(printed, wrong), False


def _is_value(cell: str) -> bool:
    text = cell.strip().strip("$()€£%").strip()
    return _NUMBER.fullmatch(text) is not None and re.fullmatch(r"(?a)(?:19|20)\d\d", text) is None


def _digits(cell: str) -> str:
    return "".join(_NUMBER.findall(cell)).replace(",", "")


def _one_digit(printed: str, random_source: random.Random) -> str:
    places = [index for index, character in enumerate(printed) if character.isdigit()]
    place = random_source.choice(places)
    digit = random_source.choice([each for each in "123456789" if each != printed[place]])
    return printed[:place] + digit + printed[place + 1 :]


def _arithmetic(
    context: dict[str, Any], question: dict[str, Any], random_source: random.Random
) -> Iterator[tuple[str, str, bool]]:
    """The gold derivation as an explicit expression; with another operand of the table; with another result."""
    expression, scale = question["derivation"].strip(), question["scale"]
    result = _plain(question["answer"])
    try:
        tree = parse(expression)
        evaluate(tree)
    except ValueError:
        return
    yield "arithmetic gold", f"{_figure(result, scale)}⟦={expression}⟧", True
    wrong = _one_digit(result, random_source)
    yield "arithmetic wrong result", f"{_figure(wrong, scale)}⟦={expression}⟧", False
    used = [each for each in literals(tree) if abs(each.value) > 12]
    values = {_digits(cell): cell for row in context["table"]["table"][1:] for cell in row[1:] if _is_value(cell)}
    known = {_digits(each.printed) for each in literals(tree)}
    others = sorted(digits for digits in values if digits not in known)
    if not used or not others:
        return
    literal = random_source.choice(used)
    other = _NUMBER.findall(values[random_source.choice(others)])[0]
    changed = expression[: literal.start] + other + expression[literal.end :]
    try:
        value = evaluate(parse(changed))
    except ValueError:
        return
    value = value * 100 if scale == "percent" and "%" not in expression else value
    places = max(len(result.partition(".")[2]), 2 if scale == "percent" else 0)
    yield "arithmetic wrong operand", f"{_figure(_plain(str(round(value, places))), scale)}⟦={changed}⟧", False


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)
