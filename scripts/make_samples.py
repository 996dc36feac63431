"""Write data/samples/ and tests/golden/samples.json: documents of which every box is known, because it was drawn here.

    python scripts/make_samples.py [--out DIR] [--golden FILE] [--questions FILE]

Boxes are in points, as displayed (CropBox and /Rotate applied), origin top-left. A line's `bbox` reaches from pen
position to pen position and is as high as the font says; a cell's is its rectangle in the grid, `text_bbox` that of its
text. On the scan they are upright boxes around what the skew turned.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from samples import (
    annual_report,
    briefing,
    handbook,
    help_centre,
    questions,
    rotated,
    scan,
    service_page,
    travel_policy,
)

ROOT = Path(__file__).resolve().parent.parent

PDFS = (
    (briefing, "2025年度经营简报"),
    (annual_report, "Annual Report 2024"),
    (scan, ""),
    (rotated, "Electricity use by site"),
)
OTHERS = (handbook, help_centre, service_page, travel_policy)


def write_samples(folder: Path) -> dict[str, Any]:
    """Write every sample into `folder`; returns the golden facts."""
    folder.mkdir(parents=True, exist_ok=True)
    golden: dict[str, list[Any]] = {"pages": [], "items": [], "quotes": [], "questions": [], "invisible": []}
    for module, title in PDFS:
        canvas = module.draw()
        golden["pages"] += canvas.pages()
        golden["items"] += canvas.items
        golden["quotes"] += canvas.quotes(getattr(module, "QUOTES", ()))
        canvas.save(folder, title)
    for module in OTHERS:
        module.write(folder)
    golden["questions"] = [{**asdict(question), "refused": question.refused} for question in questions.QUESTIONS]
    golden["invisible"] = [{"document": "rotated.pdf", "page": 1, "text": rotated.SLUG}]
    return golden


def question_lines(golden: dict[str, list[Any]]) -> str:
    """The questions as `kb-qa eval` reads them; the place of an answer where one box alone prints it."""
    lines = []
    for question in golden["questions"]:
        line: dict[str, Any] = {"id": question["id"], "question": question["question"]}
        if question["refused"]:
            lines.append(line | {"not_in_documents": True})
            continue
        line |= {"document": question["document"], "answer": question["answer"]}
        if question["page"] is not None:
            line["pages"] = [question["page"]]
            here = (question["document"], question["page"])
            boxes = [item for item in golden["items"] if (item["document"], item["page"]) == here]
            boxes = [item["bbox"] for item in boxes if question["answer"] in item["text"]]
            line |= {"region": {"page": question["page"], "bbox": boxes[0]}} if len(boxes) == 1 else {}
        lines.append(line)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def golden_text(golden: dict[str, list[Any]]) -> str:
    """JSON with a line for each fact, so that a change can be read in a diff."""
    parts = []
    for key, facts in golden.items():
        lines = ",\n".join("  " + json.dumps(fact, ensure_ascii=False) for fact in facts)
        parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample documents and the boxes they hold.")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "samples")
    parser.add_argument("--golden", type=Path, default=ROOT / "tests" / "golden" / "samples.json")
    parser.add_argument("--questions", type=Path, default=ROOT / "docs" / "sample-questions.jsonl")
    arguments = parser.parse_args()
    golden = write_samples(arguments.out)
    arguments.golden.parent.mkdir(parents=True, exist_ok=True)
    arguments.golden.write_bytes(golden_text(golden).encode())
    arguments.questions.write_bytes(question_lines(golden).encode())
    for path in sorted(arguments.out.iterdir()):
        print(f"{path.stat().st_size:>8}  {path.name}")


if __name__ == "__main__":
    main()
