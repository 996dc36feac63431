"""Sizes of chunks, what is embedded of them, and weights of the lexical index, beside one another in one run.

    python -m scripts.bench_chunks tatqa FOLDER
    python -m scripts.bench_chunks erc2 KB QUESTIONS.jsonl

`tatqa`: which of the contexts a question is about. `erc2`: whether a page that answers is among the first, within the
named document; the documents are those of the questions that KB holds a parse of. For every variant: how many chunks,
letters to embed, and hit@1 and hit@5 with 95 % intervals, by dense, lexical and fused rank. `--variants` picks some,
`--lexical` compares the weights instead and embeds nothing, `--cache FILE` keeps embeddings between runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ingest.chunk import Origin, chunk
from ingest.index_terms import TermMaker
from ingest.indexing import document_title
from kb_qa import lexical_index
from kb_qa.elements import Chunk, Element, ParsedDocument
from kb_qa.embedding_cache import CachedEmbedder
from kb_qa.evaluation.intervals import wilson
from kb_qa.figure_terms import question_terms
from kb_qa.guardrails.materials import source_elements
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings
from kb_qa.terms import terms
from scripts.scoring.figure_cases import context_sources

RANK_CONSTANT = 60
CANDIDATES = 60
PART = 32
DIMENSION = 1  # of the vectors of the ledger that only ranks by terms


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    document: str
    pools: Sequence[frozenset[str]]  # units, one of any is a hit


@dataclass(frozen=True, slots=True)
class Group:
    """What is chunked by itself; `units` are where its chunks stand: a context, or the pages of the chunk."""

    document: str
    elements: Sequence[Element]
    title: str = ""
    unit: str = ""

    def units(self, part: Chunk) -> frozenset[str]:
        return frozenset([self.unit] if self.unit else [f"{self.document}:{each.page}" for each in part.regions])


@dataclass(frozen=True, slots=True)
class Variant:
    target: int
    text: Callable[[Chunk, Group], str]


@dataclass(frozen=True, slots=True)
class Placed:
    part: Chunk
    group: Group


def _labelled(part: Chunk, group: Group) -> str:
    """Each row with its headers and its unit line."""
    return "\n".join([part.prefix, *(block.labelled or block.text for block in part.blocks)])


def _embedded(part: Chunk, group: Group) -> str:
    return part.embedded_text


def _bare(part: Chunk, group: Group) -> str:
    return part.text


def _without_context(part: Chunk, group: Group) -> str:
    return replace(part, context="").embedded_text


def _last_heading(part: Chunk, group: Group) -> str:
    """Of the section's path only its end."""
    path = " > ".join(part.section)
    return part.embedded_text.replace(path, path.rpartition(" > ")[2], 1)


def _titled(part: Chunk, group: Group) -> str:
    return f"{group.title.splitlines()[0] if group.title else ''}\n{part.embedded_text}"


VARIANTS: Mapping[str, Variant] = {
    "rows with headers, 900": Variant(900, _labelled),
    "no prefix, 900": Variant(900, _bare),
    "no context, 900": Variant(900, _without_context),
    "embedded, 450": Variant(450, _embedded),
    "embedded, 900": Variant(900, _embedded),
    "embedded, 1300": Variant(1300, _embedded),
    "last heading, 900": Variant(900, _last_heading),
    "with title, 900": Variant(900, _titled),
}
WEIGHTS: Sequence[tuple[float, float, float]] = (
    *((1, 0, 0), (1, 1, 1), (1, 1, 2), (1, 2, 2), (1, 1, 3), (1, 2, 3), (1, 1, 4), (1, 2, 4), (1, 4, 4)),
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("tatqa", "erc2"))
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--variants", default="", help="only those whose names hold one of these, by commas")
    parser.add_argument("--lexical", action="store_true")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--target", type=int, default=900, help="of the chunks that --lexical compares weights on")
    options = parser.parse_args(arguments)
    groups, questions = tatqa(*options.paths) if options.set == "tatqa" else erc2(*options.paths)
    print(f"{options.set}: n = {len(questions)} questions, {len(groups)} texts that are cut by themselves")
    if options.lexical:
        compare_weights(placed_chunks(groups, options.target), questions)
        return 0
    wanted = [part.strip() for part in options.variants.split(",") if part.strip()]
    model = embedder_of(Settings.from_environment(os.environ))
    with (
        tempfile.TemporaryDirectory() as folder,
        CachedEmbedder(model, options.cache or Path(folder) / "c") as embedder,
    ):
        for name, variant in VARIANTS.items():
            if not wanted or any(part in name for part in wanted):
                compare(name, variant, groups, questions, embedder)
    return 0


def tatqa(folder: Path) -> tuple[list[Group], list[Question]]:
    groups, questions = [], []
    for context in json.loads((folder / "contexts.json").read_text(encoding="utf-8")):
        unit = context["table"]["uid"]
        table, *texts = context_sources(context)
        elements = [each for part in source_elements([*texts, table]) for each in part]
        own = [replace(_printed(each), id=f"{unit}.{order}", order=order) for order, each in enumerate(elements)]
        groups.append(Group("all", own, unit=unit))
        questions += [Question(each["question"], "", [frozenset([unit])]) for each in context["questions"]]
    return groups, questions


def _printed(element: Element) -> Element:
    """A given table with its cells at their places in its text, as a parser leaves it."""
    if element.table is None:
        return element
    lines, cells, offset = [], [], 0
    for row in element.table.rows:
        line = ""
        for cell in row:
            line += " | " if line else ""
            cells.append(replace(cell, start=offset + len(line), end=offset + len(line) + len(cell.text)))
            line += cell.text
        lines.append(line)
        offset += len(line) + 1
    return replace(element, text="\n".join(lines), table=replace(element.table, cells=tuple(cells)))


def erc2(kb: Path, path: Path) -> tuple[list[Group], list[Question]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    asked = [row for row in rows if row["page_pools"]]
    groups = []
    with Ledger.open(kb, create=False) as ledger:
        for state in ("parsed", "embedding", "indexing", "ready"):
            for version in ledger.versions_in(state):
                document = ledger.version(version).document_id
                names = next(each.names for each in ledger.documents() if each.document_id == document)
                if any(row["document"] in names for row in asked):
                    parsed: ParsedDocument = ledger.load_parse(version)
                    groups.append(Group(names[0], parsed.elements, document_title(parsed)))
    held = {group.document for group in groups}
    questions = [
        Question(
            row["question"],
            row["document"],
            [frozenset(f"{row['document']}:{page}" for page in pool) for pool in row["page_pools"]],
        )
        for row in asked
        if row["document"] in held
    ]
    return groups, questions


def placed_chunks(groups: Sequence[Group], target: int) -> list[Placed]:
    """Numbered through, each document by itself."""
    made: list[Placed] = []
    counts: dict[str, int] = {}
    for group in groups:
        for part in chunk(group.elements, Origin(group.document, 1, group.document, "bench"), target=target):
            ordinal = counts[group.document] = counts.get(group.document, -1) + 1
            made.append(Placed(replace(part, ordinal=ordinal, id=f"{group.document}-{ordinal}"), group))
    return made


def compare(
    name: str, variant: Variant, groups: Sequence[Group], questions: Sequence[Question], embedder: Embedder
) -> None:
    placed = placed_chunks(groups, variant.target)
    texts = [variant.text(each.part, each.group) for each in placed]
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    matrix = np.zeros((len(texts), embedder.dimension), np.float32)
    for start in range(0, len(order), PART):
        part = order[start : start + PART]
        matrix[part] = embedder.embed_passages([texts[place] for place in part])
    by_id = {each.part.id: place for place, each in enumerate(placed)}
    ranks: dict[str, list[list[int]]] = {"dense": [], "lexical": [], "fused": []}
    with lexical_ledger(placed) as (ledger, ids):
        for question in questions:
            held = np.array([not question.document or each.group.document == question.document for each in placed])
            scores = np.where(held, matrix @ embedder.embed_query(question.text), -2.0)
            dense = [int(place) for place in np.argsort(-scores)[:CANDIDATES]]
            matches = ledger.lexical(question_terms(question.text), CANDIDATES, _ids(question, ids))
            lexical = [by_id[match.id] for match in matches]
            ranks["dense"].append(dense)
            ranks["lexical"].append(lexical)
            ranks["fused"].append(_fused(dense, lexical))
    print(f"{name}: {len(placed)} chunks, {sum(map(len, texts))} letters")
    for kind, ranked in ranks.items():
        print(f"    {kind:8}{_hits(ranked, placed, questions)}", flush=True)


def compare_weights(placed: Sequence[Placed], questions: Sequence[Question]) -> None:
    by_id = {each.part.id: place for place, each in enumerate(placed)}
    with lexical_ledger(placed) as (ledger, ids):
        for forms in (False, True):
            for weights in WEIGHTS if forms else WEIGHTS[1:2]:
                lexical_index.WEIGHTS = dict(zip(lexical_index.WEIGHTS, weights, strict=True))
                ledger.lexical_index = lexical_index.LexicalIndex()
                words = [question_terms(each.text) if forms else terms(each.text) for each in questions]
                ranked = [
                    [by_id[match.id] for match in ledger.lexical(wanted, CANDIDATES, _ids(each, ids))]
                    for wanted, each in zip(words, questions, strict=True)
                ]
                print(f"    {weights} {'normal forms' if forms else 'words only'}: {_hits(ranked, placed, questions)}")


@contextmanager
def lexical_ledger(placed: Sequence[Placed]) -> Iterator[tuple[Ledger, Mapping[str, str]]]:
    """A ledger that ranks the chunks by terms, and the ids of its documents by their names."""
    documents: dict[str, list[Placed]] = {}
    for each in placed:
        documents.setdefault(each.group.document, []).append(each)
    ids = {name: f"{number:064x}" for number, name in enumerate(documents)}
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder), create=True) as ledger:
        ledger.set_embedder("none", DIMENSION)
        for name, parts in documents.items():
            version = ledger.receive(ids[name], name, size=1, kind="pdf", pipeline="bench")
            for state in ("stored", "parsing"):
                ledger.mark(version, state)
            ledger.store_parse(version, ParsedDocument((), (), "bench"))
            made = []
            for each in parts:
                elements = {element.id: element for element in each.group.elements}
                made.append(TermMaker(elements, each.group.title).terms_of(each.part))
            own = [replace(each.part, document_id=ids[name], version=version) for each in parts]
            ledger.store_chunks(
                version,
                own,
                [each.body for each in made],
                titles=[each.titles for each in made],
                labels=[each.labels for each in made],
            )
            ledger.store_vectors(version, [part.id for part in own], np.ones((len(own), DIMENSION), np.float32))
            ledger.mark(version, "indexing")
            ledger.publish(version)
        yield ledger, ids


def _ids(question: Question, ids: Mapping[str, str]) -> Sequence[str]:
    return [ids[question.document]] if question.document else []


def _fused(*rankings: Sequence[int]) -> list[int]:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, 1):
            scores[place] = scores.get(place, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda place: -scores[place])


def _hits(ranked: Sequence[Sequence[int]], placed: Sequence[Placed], questions: Sequence[Question]) -> str:
    """hit@1 and hit@5 over distinct units."""
    told = []
    for k in (1, 5):
        count = 0
        for places, question in zip(ranked, questions, strict=True):
            units = dict.fromkeys(
                unit for place in places for unit in sorted(placed[place].group.units(placed[place].part))
            )
            count += any(unit in pool for unit in [*units][:k] for pool in question.pools)
        low, high = wilson(count, len(questions))
        told.append(f"hit@{k} {count / len(questions):.3f} [{low:.3f}, {high:.3f}]")
    return "  ".join(told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
