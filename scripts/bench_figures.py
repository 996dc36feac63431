"""How well the guard tells right figures from wrong ones.

    python -m scripts.bench_figures FOLDER

Prints, for every set with its n and a 95 % interval, the share of right answers accepted and of wrong ones refused, by
this project's guard and, in the same run, by literal matching (every digit string of the answer stands in a source).
`--half` measures one half of each set; `--show SET N` prints N mistakes of a set; `--sentence` wraps the bare answers
of tatqa into a sentence.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kb_qa import check_figures
from kb_qa.evaluation.intervals import wilson
from kb_qa.guardrails.figures import check_answer
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.materials import materials_of, source_elements
from scripts.scoring.figure_cases import FigureCase, open_cases, tatqa_cases, uhgeval_cases

_NUMERAL = re.compile(r"(?a)\d[\d,]*(?:\.\d+)?")

Judge = Callable[[FigureCase], tuple[bool, str]]  # accepted, and why not


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shared", type=Path, help="a folder with figures/ and bench/")
    parser.add_argument("--sentence", action="store_true", help="wrap the bare answers of tatqa")
    parser.add_argument("--only", default="", metavar="SET", help="only the sets whose name starts so")
    parser.add_argument("--show", nargs=2, metavar=("SET", "N"), help="print N mistakes of a set")
    parser.add_argument("--half", choices=("a", "b"), help="only half of each set, by the document: tune on one")
    options = parser.parse_args(arguments)
    paths = [options.shared / "figures" / "open.jsonl", options.shared / "bench" / "tatqa"]
    paths.append(options.shared / "bench" / "uhgeval" / "numeric_keywords.jsonl")
    if missing := [str(path) for path in paths if not path.exists()]:
        print(f"not found: {', '.join(missing)}")
        return 3
    cases = [*open_cases(paths[0]), *tatqa_cases(paths[1], sentence=options.sentence), *uhgeval_cases(paths[2])]
    cases = [case for case in cases if case.set.startswith(options.only) and half_of(case) in (options.half or "ab")]
    ours, mistakes, seconds = _judged(cases, by_guard)
    literal, _, _ = _judged(cases, by_digits)
    _report(ours, literal)
    print(f"{len(cases)} answers checked with their sources in {seconds:.1f} s of CPU")
    _time_answers(cases)
    _time_lexer(cases)
    if options.show:
        for case, why in [each for each in mistakes if each[0].set.startswith(options.show[0])][: int(options.show[1])]:
            print(f"\n{case.set} {case.id} {'refused' if case.accept else 'ACCEPTED'}")
            print(f"  Q {case.question}\n  A {case.answer}  [{case.keyword}]\n  {why}")
    return 0


def half_of(case: FigureCase) -> str:
    """`a` or `b`, by the document of the case, so that what is tuned on one half can be measured on the other."""
    return "ab"[hashlib.sha256(case.id.partition(".")[0].encode()).digest()[-1] % 2]


def by_guard(case: FigureCase) -> tuple[bool, str]:
    outcome = check_figures(case.sources, case.question, case.answer)
    if case.set == "open":
        right = outcome.verdict == case.verdict and outcome.unsupported == case.unsupported
        return case.accept if right else not case.accept, f"{outcome.verdict} {outcome.unsupported}"
    figures = outcome.figures
    if case.keyword:
        spans = [match.span() for match in re.finditer(re.escape(case.keyword), outcome.visible)]
        figures = tuple(each for each in figures if any(each.start < end and start < each.end for start, end in spans))
    wrong = [each for each in figures if not each.supported]
    why = "; ".join(f"{each.raw}: {each.status} {each.reason}" for each in wrong or figures)
    return not wrong, why


def by_digits(case: FigureCase) -> tuple[bool, str]:
    said = "\n".join(source["text"] for source in case.sources)
    known = set(_NUMERAL.findall(said))
    claimed = _NUMERAL.findall((case.keyword or case.answer).partition("⟦")[0])
    return all(each in known for each in claimed), ""


def _judged(
    cases: Iterable[FigureCase], judge: Judge
) -> tuple[dict[str, list[tuple[bool, bool]]], list[tuple[FigureCase, str]], float]:
    """By set: whether each case is to be accepted, and was; the mistakes; the CPU seconds."""
    results: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    mistakes = []
    started = _cpu()
    for case in cases:
        accepted, why = judge(case)
        results[case.set].append((case.accept, accepted))
        if accepted != case.accept:
            mistakes.append((case, why))
    return results, mistakes, _cpu() - started


def _report(ours: dict[str, list[tuple[bool, bool]]], literal: dict[str, list[tuple[bool, bool]]]) -> None:
    print(f"{'set':<26}{'':<10}{'n':>5}  {'guard':>7}  {'95 %':<16}{'literal':>7}")
    for name, results in ours.items():
        for accept, word in ((True, "accepted"), (False, "refused")):
            rows = [was == accept for wanted, was in results if wanted == accept]
            if not rows:
                continue
            low, high = wilson(sum(rows), len(rows))
            base = [was == accept for wanted, was in literal[name] if wanted == accept]
            print(
                f"{name:<26}{word:<10}{len(rows):>5}  {sum(rows) / len(rows):>7.3f}  [{low:.3f}, {high:.3f}]  "
                f"{sum(base) / len(base):>7.3f}"
            )


def _time_lexer(cases: Sequence[FigureCase]) -> None:
    sentences = [
        part
        for case in cases
        for source in case.sources[:3]
        for part in re.split(r"(?<=[.。!?！？])\s*", source["text"])
        if 10 < len(part) < 300 and "|" not in part
    ]
    sentences = sorted(set(sentences))[::7]
    started = _cpu()
    for sentence in sentences:
        lex(sentence)
    spent = _cpu() - started
    print(f"lexer: {1e6 * spent / len(sentences):.0f} µs of CPU a sentence, {len(sentences)} sentences")


def _time_answers(cases: Sequence[FigureCase]) -> None:
    """What an answer costs when its sources' facts are at hand."""
    chosen = cases[::7]
    ready = [(materials_of(source_elements(case.sources)), case) for case in chosen]
    started = _cpu()
    for materials, case in ready:
        check_answer(materials, case.question, case.answer)
    print(
        f"check: {1e3 * (_cpu() - started) / len(ready):.2f} ms of CPU an answer with facts at hand, n = {len(ready)}"
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
