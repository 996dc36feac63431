"""`kb-qa check`: the figures of given answers, of any system, against given sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from kb_qa.command_line import json_option, kb_option
from kb_qa.evaluation.cases import json_object
from kb_qa.guardrails.figures import check_figures
from kb_qa.guardrails.outcome import Outcome
from kb_qa.guardrails.policies import Mode, Policy


class BadCaseError(ValueError):
    """A line that is no case; the message says why."""


@click.command()
@click.argument("cases", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--policy", "mode", type=click.Choice(get_args(Mode)), default="strict", show_default=True, help="What to release."
)
@kb_option
@json_option
def check(cases: Path, mode: Mode, kb: Path | None, as_json: bool) -> None:
    """Check the figures of answers: a line of CASES each, {id, sources: [{id, text}], question, answer}.

    A source's text is prose or a pipe table with its caption lines above. Exit code 1 where a line is no case.
    """
    del kb  # every command takes it; the sources of a case are all that it is held against
    policy = Policy(mode=mode)
    failed = 0
    for number, line in _lines(cases):
        try:
            case = _case(line)
            outcome = check_figures(case["sources"], case["question"], case["answer"], policy=policy)
        except ValueError as error:
            failed += 1
            click.echo(f"kb-qa: {cases}, line {number}: {error}", err=True)
            continue
        data = case_line(case["id"], outcome)
        click.echo(json.dumps(data, ensure_ascii=False) if as_json else _text(data))
    if failed:
        raise SystemExit(1)


def case_line(case_id: object, outcome: Outcome) -> dict[str, Any]:
    """What `--json` prints for one case."""
    return {
        "id": case_id,
        "verdict": outcome.verdict,
        "text": outcome.text,
        "figures": [figure.as_data() for figure in outcome.figures],
        "unsupported": list(outcome.unsupported),
    }


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def _case(line: bytes) -> Mapping[str, Any]:
    case = json_object(line, "a case is an object {id, sources, question, answer}")
    sources = case.get("sources")
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        raise BadCaseError("sources must be a list of objects {id, text}")
    if not isinstance(case.get("answer"), str):
        raise BadCaseError("answer must be a text")
    question = case.get("question") or ""
    if not isinstance(question, str):
        raise BadCaseError("question must be a text")
    return {"id": case.get("id"), "sources": sources, "question": question, "answer": case["answer"]}


def _text(data: Mapping[str, Any]) -> str:
    """A line for a reader at a terminal: the verdict, and why each figure is not supported."""
    lines = [f"{data['id']}: {data['verdict']}"]
    for figure in data["figures"]:
        reason = figure["reason"]
        if figure["derivation"]:
            lines.append(f"  {figure['raw']}: {figure['derivation']['shown']}")
        elif reason and figure["raw"] in data["unsupported"]:
            lines.append(f"  {figure['raw']}: {figure['status']}, {reason['detail']}")
    return "\n".join(lines)
