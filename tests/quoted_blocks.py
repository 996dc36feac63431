"""What the extractive model quotes of one document, made by hand of rows or sentences."""

from __future__ import annotations

from kb_qa.answers import Context, Hit, Material, Question
from kb_qa.elements import Block, Chunk
from kb_qa.models.extractive import ExtractiveModel

PREFIX = "Acme Ltd annual report"
UNIT = "(in millions)"


def row(label: str, *cells: str, years: tuple[str, ...] = ("2024", "2023"), unit: str = UNIT) -> str:
    return " | ".join(
        [label, *(f"{year}：{cell}" for year, cell in zip(years, cells, strict=False)), *filter(None, (unit,))]
    )


def chosen(
    question: str,
    *said: str,
    prefix: str = PREFIX,
    called: str = "",
    unit: str = UNIT,
    prose: bool = False,
) -> list[str]:
    """The blocks that are quoted, of one document with these blocks: rows, labelled, or sentences."""
    blocks = []
    for index, text in enumerate(said):
        printed = " | ".join(part.rpartition("：")[2] for part in text.split(" | ") if part != UNIT)
        blocks.append(Block(f"b{index}", "e", printed, 0, len(printed), labelled=text))
    kind = "text" if prose else "table"
    chunk = Chunk("c", "d", 1, "a.pdf", 0, tuple(blocks), kind, kind, prefix=f"{prefix}\n{unit}")
    material = Material(1, Hit(chunk, {"fused": 1.0}), "a.pdf")
    context = Context((material,), "", "", called={"d": (called,)} if called else {})
    return [each.block.labelled for each in ExtractiveModel().choose(Question(question, "en"), context)]


REVENUE = row("Net sales", "$ 8,412", "$ 7,650")
