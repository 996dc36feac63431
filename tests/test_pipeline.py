"""The pipeline's promises: nothing twice, nothing lost, every file with an outcome, cut work goes on."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingest.children import ParserPool
from ingest.discover import discover, received
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.parse import parse_document
from ingest.pipeline import Ingest, Outcome
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, NoDocumentsError, RejectedFileError
from kb_qa.ledger import Ledger
from kb_qa.protocols import Vectors
from kb_qa.publish import catch_up
from kb_qa.testing import HashEmbedder
from kb_qa.vectors import ChromaStore
from tests.hostile_parsers import obeys_file

LIMITS = Limits()


@dataclass(slots=True)
class InlinePool:
    """Parses in this process, at once; counts what it parsed and fails on request."""

    workers: int = 2
    parsed: list[str] = field(default_factory=list)
    failures: dict[str, RejectedFileError] = field(default_factory=dict)

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        self.parsed.append(path.name)
        future: Future[ParsedDocument] = Future()
        try:
            if path.name in self.failures:
                raise self.failures[path.name]
            future.set_result(parse_document(path, document_id, kind, limits=Limits()))
        except RejectedFileError as error:
            future.set_exception(error)
        return future


@dataclass(slots=True)
class CountingEmbedder:
    """Counts the texts it embeds; after `most` of them it is gone, like a process that was killed."""

    most: int = 10**9
    count: int = 0
    id: str = "hash"
    dimension: int = 64

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.count + len(texts) > self.most:
            raise KeyboardInterrupt
        self.count += len(texts)
        return HashEmbedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return HashEmbedder().embed_query(text)


class Died(BaseException):
    """Stands for the end of the process: what would clean up after an error does not come to it."""


class MortalLedger(Ledger):
    """Takes back no attempt, as a process that is gone does not."""

    def count_attempt(self, version: int, by: int = 1) -> int:
        return super().count_attempt(version, max(by, 0))


@dataclass(slots=True)
class Workshop:
    """A knowledge base in a folder, and a pipeline over it."""

    folder: Path
    ledger: Ledger
    pool: InlinePool | ParserPool = field(default_factory=InlinePool)
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ingest(
        self,
        *,
        limits: Limits = LIMITS,
        retry: bool = False,
        stop_after: int = 10**9,
        upload: tuple[Path, str] | None = None,
    ) -> dict[str, Outcome]:
        asked = itertools.count()

        def stop() -> None:
            if next(asked) >= stop_after:
                raise Died

        self.ledger.set_embedder(self.embedder.id, self.embedder.dimension)
        store = ChromaStore(self.folder / "kb" / "index", self.embedder.dimension)
        pipeline = Ingest(
            ledger=self.ledger,
            embedder=self.embedder,
            pool=self.pool,
            limits=limits,
            publish=lambda: catch_up(self.ledger, store),
            report=lambda outcome: None,
            retry=retry,
            stop=stop,
        )
        try:
            found = discover([self.folder / "in"], limits=limits)
            if upload is not None:
                found = received([upload], limits=limits)
            return {outcome.path: outcome for outcome in pipeline.run_on(found)}
        finally:
            store.close()

    def visible(self) -> dict[str, str]:
        """Names and texts of what can be asked."""
        return {
            name: " ".join(
                line["text_sha256"] for line in self.ledger.export() if line["document_id"] == record.document_id
            )
            for record in self.ledger.documents()
            if record.state == "ready"
            for name in record.names
        }


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.chdir(tmp_path)  # where a parser links its language model
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        yield Workshop(tmp_path, ledger)


def test_each_file_has_an_outcome(workshop: Workshop) -> None:
    """Ready, quarantined and skipped files are all reported, with a reason where they are not ready."""
    workshop.write("good.txt", "Parking costs 37 dollars.")
    workshop.write("empty.txt", "")
    (workshop.folder / "in" / "link.txt").symlink_to(workshop.folder / "in" / "good.txt")
    assert workshop.ledger.is_empty()
    outcomes = workshop.ingest()
    assert not workshop.ledger.is_empty()
    assert {name: outcome.state for name, outcome in outcomes.items()} == {
        "good.txt": "ready",
        "empty.txt": "quarantined",
        "link.txt": "skipped",
    }
    assert (outcomes["good.txt"].chunks, outcomes["good.txt"].reason) == (1, "")
    assert all(outcome.reason for outcome in outcomes.values() if outcome.state != "ready")


def test_case_c6_the_same_bytes_are_read_once(workshop: Workshop) -> None:
    """Two names in one folder, and a second run, parse and embed nothing again; both names are listed."""
    workshop.write("a.txt", "Parking costs 37 dollars.")
    workshop.write("b.txt", "Parking costs 37 dollars.")
    workshop.ingest()
    again = workshop.ingest()
    assert workshop.pool.parsed == ["a.txt"]
    assert workshop.embedder.count == 1
    assert {outcome.reason for outcome in again.values()} == {"unchanged"}
    assert set(workshop.visible()) == {"a.txt", "b.txt"}


def test_a_folder_that_is_scanned_again_and_again_costs_nothing(workshop: Workshop) -> None:
    """Ten times, touched and renamed meanwhile: one version a document, no new chunk, nothing embedded or parsed."""
    for number in range(4):
        workshop.write(f"{number}.txt", f"Item {number} costs 37 dollars.")
    workshop.ingest()
    rows = [dict(line) for line in workshop.ledger.export()]
    versions = workshop.ledger.versions_in("ready")
    for number in range(10):
        (workshop.folder / "in" / "0.txt").touch()
        if number == 5:
            (workshop.folder / "in" / "1.txt").rename(workshop.folder / "in" / "renamed.txt")
        assert {outcome.reason for outcome in workshop.ingest().values()} == {"unchanged"}
    assert list(workshop.ledger.export()) == rows
    assert workshop.ledger.versions_in("ready") == versions
    assert (len(workshop.pool.parsed), workshop.embedder.count) == (4, 4)
    assert "renamed.txt" in workshop.visible()


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.long)])
def test_a_poison_file_among_others_is_the_only_one_that_is_not_read(workshop: Workshop, count: int) -> None:
    """With real children: it kills its parser twice, and each of the others is ready."""
    for number in range(count - 1):
        workshop.write(f"{number:02}.txt", f"read{' ' * number}")
    workshop.write("poison.txt", "crash")
    with ParserPool(obeys_file, limits=LIMITS, workers=2) as workshop.pool:
        outcomes = workshop.ingest()
    states = Counter(outcome.state for outcome in outcomes.values())
    assert states == {"ready": count - 1, "quarantined": 1}
    assert "crashed its parser 2 times" in outcomes["poison.txt"].reason


def test_case_c6_a_changed_file_replaces_what_its_name_stood_for(workshop: Workshop) -> None:
    """After the second run only the new content can be asked."""
    workshop.write("a.txt", "Parking costs 37 dollars.")
    workshop.ingest()
    before = workshop.visible()
    workshop.write("a.txt", "Parking costs 41 dollars.")
    workshop.ingest()
    after = workshop.visible()
    assert set(after) == {"a.txt"}
    assert after["a.txt"] != before["a.txt"]


def test_a_cut_embedding_goes_on_where_it_was(workshop: Workshop) -> None:
    """What was embedded before the end of the process is not embedded again, and nothing was visible meanwhile."""
    for number in range(40):
        workshop.write(f"{number:02}.txt", f"Item {number} costs {number + 100} dollars.")
    workshop.embedder.most = 25
    with pytest.raises(KeyboardInterrupt):
        workshop.ingest()
    assert workshop.visible() == {}
    done, workshop.embedder.most = workshop.embedder.count, 10**9
    outcomes = workshop.ingest()
    assert done == 25
    assert workshop.embedder.count == 40
    assert len(workshop.pool.parsed) <= 40 + workshop.pool.workers + 1  # those that were being parsed start over
    assert {outcome.state for outcome in outcomes.values()} == {"ready"}
    assert len(workshop.visible()) == 40


def test_a_crashed_parser_quarantines_its_file_alone(workshop: Workshop) -> None:
    """The others go in; a later run tries the file again only when it is asked to, or when other limits hold."""
    workshop.write("good.txt", "Parking costs 37 dollars.")
    workshop.write("poison.txt", "x")
    workshop.pool.failures["poison.txt"] = CrashedParserError("'poison.txt' crashed its parser 2 times (SIGSEGV)")
    outcomes = workshop.ingest()
    assert (outcomes["poison.txt"].state, "SIGSEGV" in outcomes["poison.txt"].reason) == ("quarantined", True)
    assert outcomes["good.txt"].state == "ready"
    assert {record.state for record in workshop.ledger.documents()} == {"ready", "quarantined"}
    workshop.pool.failures.clear()
    parsed = list(workshop.pool.parsed)
    again = workshop.ingest()["poison.txt"]
    assert (again.state, again.reason, again.code) == ("quarantined", outcomes["poison.txt"].reason, "parser_crashed")
    assert workshop.pool.parsed == parsed
    assert workshop.ingest(limits=Limits(seconds=1))["poison.txt"].state == "ready"


def test_a_quarantined_file_is_retried_when_it_is_asked_for(workshop: Workshop) -> None:
    """`--retry`: its attempts start over."""
    workshop.write("poison.txt", "x")
    workshop.pool.failures["poison.txt"] = CrashedParserError("'poison.txt' crashed its parser 2 times (SIGSEGV)")
    workshop.ingest()
    workshop.pool.failures.clear()
    assert workshop.ingest(retry=True)["poison.txt"].state == "ready"
    (version,) = workshop.ledger.versions_in("ready")
    assert workshop.ledger.version(version).attempts == 1


def test_a_file_that_ends_the_whole_process_takes_no_other_with_it(workshop: Workshop) -> None:
    """Each run dies on it, with others on their way; at last it is read alone, and then the others go in without it."""
    for name in ("a.txt", "b.txt", "poison.txt", "z.txt"):
        workshop.write(name, f"{name} costs 37 dollars.")

    @dataclass(slots=True)
    class Dying(InlinePool):
        def submit(self, original: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
            if original.name == "poison.txt":
                raise Died
            return InlinePool.submit(self, original, document_id, kind)

    workshop.pool = Dying(workers=3)
    outcomes: dict[str, Outcome] = {}
    with MortalLedger.open(workshop.folder / "kb", create=False) as workshop.ledger:
        for deaths in range(9):  # noqa: B007  counted
            try:
                outcomes = workshop.ingest()
                break
            except Died:
                continue
    assert deaths == 5
    assert {name: outcome.state for name, outcome in outcomes.items()} == {
        "a.txt": "ready",
        "b.txt": "ready",
        "poison.txt": "quarantined",
        "z.txt": "ready",
    }
    assert "ended 5 times" in outcomes["poison.txt"].reason


def test_a_run_that_is_told_to_end_counts_against_no_document(workshop: Workshop) -> None:
    """It ends where it stands, and another one goes on; nothing was said of the files on their way."""
    for number in range(6):
        workshop.write(f"{number}.txt", f"Item {number} costs 37 dollars.")
    with pytest.raises(Died):
        workshop.ingest(stop_after=3)
    with workshop.ledger.database.read() as connection:
        assert set(connection.exec_driver_sql("SELECT attempts FROM versions").scalars()) <= {0, 1}
        unfinished = "SELECT sum(attempts) FROM versions WHERE state <> 'indexing'"
        assert connection.exec_driver_sql(unfinished).scalar() in (None, 0)
    assert {outcome.state for outcome in workshop.ingest().values()} == {"ready"}


def test_a_file_with_nothing_to_read_is_told(workshop: Workshop) -> None:
    """White space is no content."""
    workshop.write("blank.txt", " \n \n")
    outcome = workshop.ingest()["blank.txt"]
    assert (outcome.state, outcome.reason) == ("quarantined", "the document has no text")


def test_a_folder_without_documents_is_an_error(workshop: Workshop) -> None:
    """There is nothing to do, and that is said."""
    (workshop.folder / "in").mkdir()
    with pytest.raises(NoDocumentsError):
        workshop.ingest()


def test_two_files_of_one_name_are_two_documents(workshop: Workshop) -> None:
    """2023/report.md and 2024/report.md do not replace each other, and a path or a folder tells them apart."""
    for year in ("2023", "2024"):
        (workshop.folder / "in" / year).mkdir(parents=True)
        workshop.write(f"{year}/report.txt", f"Parking cost {year[-2:]} dollars.")
    outcomes = workshop.ingest()
    assert {path: outcome.state for path, outcome in outcomes.items()} == {
        "2023/report.txt": "ready",
        "2024/report.txt": "ready",
    }
    assert [record.names for record in workshop.ledger.documents()] == [("report.txt",)] * 2
    assert len(workshop.ledger.resolve(["report.txt"])) == 2
    later = workshop.ledger.resolve(["2024/report.txt"])
    assert len(later) == 1
    assert workshop.ledger.resolve([], "2024") == later


def test_what_is_parsed_is_the_copy_that_is_kept(workshop: Workshop) -> None:
    """A file that changes between being copied and being parsed cannot lead a citation to other content."""
    path = workshop.write("a.txt", "Parking costs 37 dollars.")
    submit = workshop.pool.submit

    @dataclass(slots=True)
    class Overwriting(InlinePool):
        def submit(self, original: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
            path.write_text("Parking costs 41 dollars.", encoding="utf-8")
            return submit(original, document_id, kind)

    workshop.pool = Overwriting()
    workshop.ingest()
    (version,) = workshop.ledger.versions_in("ready")
    assert [element.text for element in workshop.ledger.load_parse(version).elements] == ["Parking costs 37 dollars."]


def test_a_file_that_vanishes_is_skipped(workshop: Workshop) -> None:
    """The others go in."""
    workshop.write("a.txt", "Parking costs 37 dollars.")
    gone = workshop.write("b.txt", "Parking costs 41 dollars.")
    submit = workshop.pool.submit

    @dataclass(slots=True)
    class Removing(InlinePool):
        def submit(self, original: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
            gone.unlink()
            return submit(original, document_id, kind)

    workshop.pool = Removing()
    outcomes = workshop.ingest()
    assert {name: outcome.state for name, outcome in outcomes.items()} == {"a.txt": "ready", "b.txt": "skipped"}


def test_a_document_without_a_date_has_that_of_its_file(workshop: Workshop) -> None:
    """What a document says of itself counts before the time on disk; both are told."""
    for name, text in (("a.md", "---\ndate: 2021-05-06\n---\nAlpha."), ("b.txt", "Beta.")):
        os.utime(workshop.write(name, text), (1_710_000_000, 1_710_000_000))
    workshop.ingest()
    dates = {record.names[0]: (record.dated, record.dated_by) for record in workshop.ledger.documents()}
    assert dates == {"a.md": ("2021-05-06", "published"), "b.txt": ("2024-03-09", "file")}


@pytest.mark.parametrize(
    "name",
    ["报" * 400 + ".txt", "🙂" * 300 + ".txt", "a" * 900 + ".txt", "CON.txt", "-rf.txt", "x\ufffd.txt", "{{7*7}}.txt"],
    ids=["Chinese", "emoji", "long", "reserved", "option", "replaced", "template"],
)
def test_g1_an_upload_is_read_whatever_it_is_called(name: str, workshop: Workshop) -> None:
    """G1: its name is the document's, and what it means; a second upload takes it over once that is ready."""
    first = workshop.write("token", "Parking costs 37 dollars.")
    assert workshop.ingest(upload=(first, name))[name].state == "ready"
    meant = workshop.ledger.named(name)
    second = workshop.write("token2", "Parking costs 41 dollars.")
    assert workshop.ingest(upload=(second, name))[name].state == "ready"
    assert meant is not None
    assert workshop.ledger.named(name) not in {meant, None}
    assert list(workshop.visible()) == [name]
    assert workshop.ledger.named("another.txt") is None
