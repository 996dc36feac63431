"""Whether the page is found: this project's retriever beside a plain search, in one run.

    python -m scripts.bench_retrieval erc2 FOLDER [--kb KB] [--cache DIR] [--limit N] [--misses FILE]
    python -m scripts.bench_retrieval tatqa FOLDER [--cache DIR] [--limit N] [--misses FILE]

`erc2`: questions to annual reports. Pages within the named report and over all of them, beside BM25 over whole pages
and a plain dense index over pieces of 1,000 characters; then what the extractive model refuses, and which figures it
gets right. `--kb` is a knowledge base that has the reports (copy one that others use); else `--cache` is given one.
`tatqa`: questions to tables and paragraphs; which of the contexts each is about, beside BM25.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kb_qa.answers import Filters
from kb_qa.evaluation.cases import read_cases
from kb_qa.evaluation.context_set import context_cases
from kb_qa.evaluation.page_search import PageSearch
from kb_qa.evaluation.scores import Observed, Place, Rate, distinct, document_rank, outcomes, page_rank, summary
from kb_qa.live_index import embedder_of
from kb_qa.observe import HereAsker, Search, answer_to, named_documents, observe
from kb_qa.settings import Settings
from kb_qa.wiring import open_knowledge_base
from scripts.scoring.contexts import write_contexts
from scripts.scoring.plain_pages import PieceSearch, pages_of

SEARCHERS = {"": "ours", "bm25": "BM25", "dense": "dense"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("erc2", "tatqa"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kb", type=Path, help="a knowledge base that has the reports")
    parser.add_argument("--cache", type=Path, help="where to keep what is read and embedded")
    parser.add_argument("--limit", type=int, default=0, help="only the first N questions")
    parser.add_argument("--misses", type=Path, help="a file for the questions whose page was not among the first five")
    parser.add_argument("--no-dense", action="store_true", help="without the plain dense index")
    parser.add_argument("--no-answers", action="store_true", help="pages alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.cache = options.cache or Path(folder)
        lines = erc2(options) if options.what == "erc2" else tatqa(options)
        for line in lines:
            print(line, flush=True)


def erc2(options: argparse.Namespace) -> Iterator[str]:
    path = options.folder / "questions.jsonl"
    cases = read_cases(path.read_bytes().splitlines(), path.name)[: options.limit or None]
    pdfs = sorted((options.folder / "pdfs").glob("*.pdf"))
    settings = replace(Settings.from_environment(os.environ), model="extractive")
    settings = replace(settings, kb=options.kb or ingested(pdfs, options.cache / "kb"))
    with open_knowledge_base(settings) as knowledge_base:
        documents = named_documents(cases, knowledge_base.library)
        cases = tuple(case for case in cases if documents[case.document])
        ready = [record for record in knowledge_base.library.documents() if record.state == "ready"]
        known = {name for record in ready for name in record.names}
        pdfs = [pdf for pdf in pdfs if pdf.name in known]
        pages = pages_of(pdfs)
        baselines: dict[str, Search] = {"bm25": PageSearch(pages)}
        if not options.no_dense:
            baselines["dense"] = PieceSearch(pages, embedder_of(settings), options.cache)
        asker = HereAsker(knowledge_base)
        seen = [*observe(cases, asker, documents, baselines, answers=not options.no_answers)]
        yield f"{len(cases)} questions, {len(pages)} pages of {len(pdfs)} reports"
        yield from page_table(seen, [name for name in SEARCHERS if name in {"", *baselines}])
        if options.misses:
            options.misses.write_text("\n".join(misses(seen)) + "\n", encoding="utf-8")
        if options.no_answers:
            return
        within = [
            replace(each, answered=answer_to(asker, each.case.question, Filters(documents=tuple(each.documents))))
            for each in seen
        ]
    for title, observed in (("asked of the document", within), ("asked of all documents", seen)):
        yield f"\nanswers of the extractive model, {title}"
        yield from answer_table(observed)


def ingested(pdfs: Sequence[Path], kb: Path) -> Path:
    command = [sys.executable, "-m", "ingest", "ingest", *map(str, pdfs), "--kb", str(kb)]
    subprocess.run(command, check=True)
    return kb


def page_table(seen: Sequence[Observed], searchers: Sequence[str]) -> Iterator[str]:
    rates = summary(seen)
    yield f"\n{'hit@k':<24}" + "".join(f"{SEARCHERS[name]:<28}" for name in searchers)
    for title, scope in (("within the document", "within"), ("whole store", "")):
        for k in (1, 5, 10):
            tails = ["".join(f".{part}" for part in (scope, name) if part) for name in searchers]
            shown = [shown_rate(rates.get(f"page_hit@{k}{tail}", Rate(0, 0))) for tail in tails]
            yield f"{title:<20}{k:>2}  " + "".join(f"{each:<28}" for each in shown)


def shown_rate(rate: Rate) -> str:
    low, high = rate.interval
    return f"{rate.share:.3f} [{low:.3f}, {high:.3f}] n={rate.n}" if rate.n else "-"


def answer_table(seen: Sequence[Observed]) -> Iterator[str]:
    """Booleans apart: a `False` without pages is to be refused, as nothing in a document says it."""
    texts = [each for each in seen if each.case.kind != "boolean"]
    rates, booleans = summary(texts), summary([each for each in seen if each.case.kind == "boolean"])
    for title, rate in {
        '"N/A" refused': rates.get("refused_absent"),
        "answerable wrongly refused": rates.get("refused_answerable"),
        "a False without pages refused": booleans.get("refused_absent"),
        "other booleans refused": booleans.get("refused_answerable"),
        "numbers, right value on the cited page": rates.get("figure_right"),
        "names and numbers, said": rates.get("answer_contained"),
        "a page of each pool cited": summary(seen).get("pages_cited"),
        "failed": summary(seen).get("failed"),
    }.items():
        if rate is not None:
            yield f"  {title:<40}{shown_rate(rate)}"
    for each in seen:
        found = outcomes(each)
        wrong = [name for name, value in found.items() if not value and name in {"refused_absent", "figure_right"}]
        wrong += [name for name in ("refused_answerable", "failed") if found.get(name)]
        if wrong and each.answered is not None:
            said = " ".join((each.answered.text or each.answered.reason or each.answered.error).split())
            yield f"    {each.case.id:>3} {', '.join(wrong)}: {list(each.case.answers) or 'N/A'} ← {said[:160]}"


def misses(seen: Iterable[Observed]) -> Iterator[str]:
    """A JSON line for each question with pages that ours did not find among the first five."""
    for each in seen:
        ranks = {name or "ours": page_rank(each, places) for name, places in each.found.items()}
        if each.case.pages and any((ranks.get(name) or 6) > 5 for name in ("ours", "within")):
            found = {name or "ours": shown_places(each.found[name]) for name in ("", "within") if name in each.found}
            line = {"id": each.case.id, "question": each.case.question, "document": each.case.document}
            yield json.dumps(
                line | {"pages": sorted(each.case.pages), "ranks": ranks, "found": found}, ensure_ascii=False
            )


def shown_places(places: Sequence[Place]) -> list[str]:
    return [f"{place.document}:{place.page}" for place in distinct(places)[:10]]


def tatqa(options: argparse.Namespace) -> Iterator[str]:
    contexts = json.loads((options.folder / "contexts.json").read_text(encoding="utf-8"))
    cases = [*context_cases(contexts)][: options.limit or None]
    places = write_contexts(contexts, options.cache / "contexts")
    settings = replace(Settings.from_environment(os.environ), model="extractive")
    settings = replace(settings, kb=options.kb or ingested([options.cache / "contexts"], options.cache / "contexts-kb"))
    with open_knowledge_base(settings) as knowledge_base:
        documents = named_documents(cases, knowledge_base.library)
        seen = [*observe(cases, HereAsker(knowledge_base), documents, {"bm25": PageSearch(places)}, answers=False)]
    yield f"{len(cases)} questions, {len(contexts)} contexts"
    yield f"\n{'hit@k':<8}{SEARCHERS['']:<28}{SEARCHERS['bm25']:<28}"
    rates = summary(seen)
    for k in (1, 5):
        ours, plain = rates[f"document_hit@{k}"], rates[f"document_hit@{k}.bm25"]
        ratio = ours.share / plain.share if plain.hits else 0.0
        yield f"{k:<8}{shown_rate(ours):<28}{shown_rate(plain):<28}{ratio:.3f} x BM25"
    if options.misses:
        lines = [context_miss(each) for each in seen if document_rank(each, each.found[""]) != 1]
        options.misses.write_text("".join(lines), encoding="utf-8")


def context_miss(seen: Observed) -> str:
    ranks = {name or "ours": document_rank(seen, places) for name, places in seen.found.items()}
    line = {"question": seen.case.question, "context": seen.case.document, "ranks": ranks}
    return json.dumps(line, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
