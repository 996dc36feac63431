"""Formulas as one line of text. Written out flat, `12/34` would read as 1234 and `x²` as x2."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # ships no types

_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SIMPLE = re.compile(r"\w+|\w*\.\w+")
_SILENT = frozenset("annotation annotation-xml rPr ctrlPr fPr radPr sSupPr sSubPr sSubSupPr naryPr dPr".split())


def formula_text(node: Any) -> str:
    """A formula of Office (OMML) or HTML (MathML) in a line: `(a+b)/2`, `x^2`, `√(2)`."""
    return " ".join(_text(node).split())


def write_out_formulas(tree: Any, run: Callable[[str], Any]) -> None:
    """Replaces each Office formula below `tree` by the run that `run` makes of its text."""
    for formula in list(tree.iter(f"{_OFFICE}oMath")):
        made = run(formula_text(formula))
        made.tail = formula.tail
        formula.getparent().replace(formula, made)
    for paragraph in list(tree.iter(f"{_OFFICE}oMathPara")):
        parent = paragraph.getparent()
        for child in list(paragraph):
            if etree.QName(child).localname != "oMathParaPr":
                paragraph.addprevious(child)
        parent.remove(paragraph)


def _text(node: Any) -> str:
    if not isinstance(node.tag, str):
        return ""
    name = etree.QName(node).localname
    if name in _SILENT:
        return ""
    children = [child for child in node if isinstance(child.tag, str) and etree.QName(child).localname not in _SILENT]
    if name in {"mfrac", "f"} and len(children) == 2:
        return f"{_grouped(_text(children[0]))}/{_grouped(_text(children[1]))}"
    if name in {"msup", "sSup", "mover"} and len(children) == 2:
        return f"{_grouped(_text(children[0]))}^{_grouped(_text(children[1]))}"
    if name in {"msub", "sSub", "munder"} and len(children) == 2:
        return f"{_text(children[0])}_{_grouped(_text(children[1]))}"
    if name in {"msubsup", "sSubSup", "munderover"} and len(children) == 3:
        return f"{_text(children[0])}_{_grouped(_text(children[1]))}^{_grouped(_text(children[2]))}"
    if name == "nary":
        return _sum(node, children)
    if name in {"msqrt", "rad"}:
        return _root(children)
    if name == "mroot" and len(children) == 2:
        return f"{_grouped(_text(children[1]))}√({_text(children[0])})"
    inside = (node.text or "") + "".join(_text(child) + (child.tail or "").strip() for child in children)
    return _delimited(node, children) if name == "d" else inside


def _grouped(text: str) -> str:
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _root(children: list[Any]) -> str:
    degree = [child for child in children if etree.QName(child).localname == "deg"]
    body = "".join(_text(child) for child in children if child not in degree)
    return f"{''.join(map(_text, degree))}√({body})"


def _sum(node: Any, children: list[Any]) -> str:
    """A sum or an integral with its bounds."""
    sign = node.find(f"{_OFFICE}naryPr/{_OFFICE}chr")
    parts = {etree.QName(child).localname: _text(child) for child in children}
    bounds = (f"{mark}{_grouped(parts[name])}" for mark, name in (("_", "sub"), ("^", "sup")) if parts.get(name))
    return f"{'∫' if sign is None else sign.get(f'{_OFFICE}val', '')}{''.join(bounds)} {parts.get('e', '')}"


def _delimited(node: Any, children: list[Any]) -> str:
    start, end = (node.find(f"{_OFFICE}dPr/{_OFFICE}{name}") for name in ("begChr", "endChr"))
    left = "(" if start is None else start.get(f"{_OFFICE}val", "")
    right = ")" if end is None else end.get(f"{_OFFICE}val", "")
    return f"{left}{'|'.join(map(_text, children))}{right}"
