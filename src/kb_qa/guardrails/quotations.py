"""Whether a unit repeats a cited block word for word: what a quotation says is what its block says."""

from __future__ import annotations

import re

from kb_qa.elements import Block

# How a labelled row joins its cells, and a cell to its column header (`elements.Block.labelled`).
_CELLS, _HEADER = " | ", "："
_COLONS = (":", "：")
_BETWEEN = "；;，,|"
_SCALE = re.compile(r"(?i)in(?:[a-z$€£¥]*)?(?:thousands|millions|billions)")  # what a longer line says the unit with


def is_quotation(text: str, block: Block) -> bool:
    """Whether `text` is the block, or the greater part of it, as it is printed or labelled; spaces do not count."""
    said = _collapsed(text)
    forms = {_collapsed(each) for each in (block.text, block.labelled) if each}
    return bool(said) and any(said in whole and 2 * len(said) >= len(whole) for whole in forms)


def is_row_quotation(text: str, block: Block, around: str = "") -> tuple[bool, bool]:
    """Whether `text` says cells of a table row under their own headers, its label first; and whether it ends with the
    line that says what the row is counted in (a part of the row, or a line `around` it).

    `Net sales; 2024: 8,412 (in millions)`
    """
    parts = [part.partition(_HEADER) for part in block.labelled.split(_CELLS)]
    if not parts[0][1]:
        parts[0] = ("", _HEADER, parts[0][0])  # the column of the labels has no header
    pairs = [(_plain(header), _plain(cell)) for header, colon, cell in parts if colon]
    lines = {_plain(each[0]).strip("()（）") for each in parts if not each[1]} | {
        _plain(line).strip("()（）") for line in around.splitlines()
    }
    if len(pairs) < 2:
        return False, False
    said = _plain(text).strip("-*•。.")
    position = 0
    for number, (header, cell) in enumerate(pairs):
        form = next((each for each in _forms(header, cell) if each and said.startswith(each, position)), "")
        if form:
            position += len(form)
            position += said[position : position + 1] in tuple(_BETWEEN)
        elif not number:
            return False, False  # a cell without its row
    rest = said[position:].strip("()（）")
    is_unit = rest in lines or (_SCALE.search(rest) is not None and any(rest in line for line in lines))
    return position > 0 and (not rest or is_unit), bool(rest)


def _forms(header: str, cell: str) -> list[str]:
    return [f"{header}{colon}{cell}" for colon in _COLONS] if header else [cell]


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


def _collapsed(text: str) -> str:
    """The text without spaces, the marks at its ends, and the marks of a list."""
    return _plain(text).strip("-*•。.!！;；")
