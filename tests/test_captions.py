"""Pictures described during ingest, over real HTTP: paid for once, never in the way, and never a source of figures."""

from __future__ import annotations

import asyncio
import base64
import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from sqlalchemy import func, select

from ingest.captions import REASONS, Captions, caption_id
from ingest.handover import ingest_into
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.pipeline import PIPELINE, Ingest, Outcome
from ingest.progress import IngestProgress
from ingest.stored import parsed_document
from kb_qa.answers import AnswerEvent, Language
from kb_qa.counters import Counters
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import DamagedFileError
from kb_qa.geometry import BBox, Page, Region
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.ledger import Ledger
from kb_qa.listing import element_line
from kb_qa.locate import locate
from kb_qa.models.accounts import Accounts, Budget
from kb_qa.models.describer import ModelDescriber
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.models.prices import Price
from kb_qa.protocols import AnswerModel
from kb_qa.publish import catch_up
from kb_qa.quality_reasons import reason_in
from kb_qa.rendering import to_markdown
from kb_qa.retrieve import Retriever
from kb_qa.schema import captions
from kb_qa.settings import Settings
from kb_qa.testing import (
    HashEmbedder,
    HttpFault,
    InMemorySpending,
    Reply,
    ScriptedMessagesAPI,
    block_location,
    said,
    scripted_messages_api,
)
from kb_qa.testing.messages_api import Scripted
from kb_qa.vectors import ChromaStore
from tests.claude_parts import OPTIONS, claude, upstream
from tests.sample_kb import SAMPLES

CHART = BBox(80, 170, 480, 430)
SHOWN = (
    "A bar chart of quarterly harvest in tonnes. The harvest rises in every quarter. "
    "The tallest bar stands at 913 tonnes."
)
DESCRIBED = said(SHOWN)


def element(order: int, text: str, *, box: BBox = CHART, **changed: Any) -> Element:
    given: dict[str, Any] = {"element_type": "text", "category": "NarrativeText", "section": ("Harvest",)}
    regions = (Region(1, box),)
    return Element(id=f"e{order}", document_id="", order=order, text=text, regions=regions, **(given | changed))


def picture(order: int, text: str = "", **changed: Any) -> Element:
    return element(order, text, element_type="image", category="Image", **changed)


def several(count: int) -> list[Element]:
    """Pictures of different sizes."""
    return [picture(order, box=BBox(0, 0, 200 + order, 200)) for order in range(1, count + 1)]


PROSE = element(0, "The orchard of Northfell grows pears.")
TITLE = element(2, "Figure 1: quarterly harvest", category="FigureCaption")
PAGE = (PROSE, picture(1, "Q1\nQ2\nQ3"), TITLE, element(3, "Pears are picked by hand."))


@dataclass(slots=True)
class Pictures:
    """A picture for each region, other bytes for another box; `broken` ones cannot be drawn."""

    drawn: list[Region] = field(default_factory=list)
    broken: bool = False

    async def png(self, document_id: str, region: Region) -> bytes:
        if self.broken:
            raise DamagedFileError("page 1 cannot be drawn")
        self.drawn.append(region)
        return repr(region.bbox).encode()


@dataclass(slots=True)
class GivenPool:
    """Parses every file into the same elements; counts how often."""

    elements: Sequence[Element]
    workers: int = 1
    parsed: int = 0

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        self.parsed += 1
        future: Future[ParsedDocument] = Future()
        own = tuple(replace(each, document_id=document_id) for each in self.elements)
        future.set_result(ParsedDocument((Page(1, 595, 842),), own, "given", flags=("repaired",)))
        return future


@dataclass(slots=True)
class Workshop:
    folder: Path
    ledger: Ledger
    pool: GivenPool = field(default_factory=lambda: GivenPool(PAGE))
    pictures: Pictures = field(default_factory=Pictures)
    most: int = 10

    def ingest(self, url: str = "", books: Accounts | None = None, **given: Any) -> Outcome:
        """One file through the pipeline. Without a `url` there is no key."""
        host = upstream(url, books, **({"tries": 1} | given)) if url else None
        return self.ingest_with(ModelDescriber(OPTIONS, host))

    def ingest_with(self, describer: ModelDescriber | None) -> Outcome:
        file = self.folder / "report.txt"
        file.write_text("any", encoding="utf-8")
        stage = None if describer is None else Captions(self.ledger, self.pictures, describer, self.most)
        self.ledger.set_embedder("hash", 64)
        with self.store() as store:
            pipeline = Ingest(
                ledger=self.ledger,
                embedder=HashEmbedder(),
                pool=self.pool,
                limits=Limits(),
                publish=lambda: catch_up(self.ledger, store),
                report=lambda outcome: None,
                captions=stage,
            )
            (outcome,) = pipeline.run([file])
        return outcome

    @contextmanager
    def store(self) -> Iterator[ChromaStore]:
        store = ChromaStore(self.folder / "kb" / "index", 64)
        try:
            yield store
        finally:
            store.close()

    @property
    def flags(self) -> tuple[str, ...]:
        """Without the one that says who described how many pictures."""
        (record,) = self.ledger.documents()
        assert record.state == "ready"
        return tuple(flag for flag in record.flags if " described by " not in flag)

    @property
    def captions(self) -> list[Element]:
        """Those of the visible version."""
        (record,) = self.ledger.documents()
        version = self.ledger.ready_version(record.document_id, PIPELINE)
        assert version is not None
        return [each for each in self.ledger.images(version) if each.origin == "caption"]

    def ask(self, question: str, model: AnswerModel) -> list[AnswerEvent]:
        async def events(knowledge_base: KnowledgeBase) -> list[AnswerEvent]:
            return [event async for event in knowledge_base.ask(question)]

        with self.store() as store:
            retriever = Retriever(HashEmbedder(), store, self.ledger)
            return asyncio.run(events(KnowledgeBase(retriever, self.ledger, model, original=Path)))


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        yield Workshop(tmp_path, ledger)


@pytest.fixture
def api() -> Iterator[ScriptedMessagesAPI]:
    with scripted_messages_api(otherwise=DESCRIBED) as running:
        yield running


def texts(workshop: Workshop) -> list[tuple[str, str]]:
    (record,) = workshop.ledger.documents()
    return [(chunk.origin, chunk.text) for chunk in workshop.ledger.document_chunks(record.document_id)]


def test_a_picture_is_described_behind_itself(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """The description has the picture's place, section and region, and says which model wrote it."""
    assert workshop.ingest(api.url).state == "ready"
    (caption,) = workshop.captions
    assert (caption.id, caption.order, caption.element_type) == (caption_id(PAGE[1]), 1, "image")
    assert (caption.origin, caption.described_by, caption.text) == ("caption", OPTIONS.model_id, SHOWN)
    assert (caption.regions, caption.section, caption.words) == (PAGE[1].regions, ("Harvest",), ())
    (record,) = workshop.ledger.documents()
    assert record.flags == ("repaired", f"1 pictures described by {OPTIONS.model_id}")
    assert reason_in("zh", record.flags[1]) == f"1 张图片由模型 {OPTIONS.model_id} 描述"
    assert [origin for origin, _ in texts(workshop)] == ["text-layer", "text-layer", "caption", "text-layer"]


def test_the_model_gets_the_picture_and_a_constant(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """One image block; nothing that stands in the document, and no name of it, is sent beside it."""
    workshop.ingest(api.url)
    (sent,) = api.asked
    (message,) = sent.json["messages"]
    (block,) = message["content"]
    assert block["type"] == "image"
    assert "Describe the picture" in sent.json["system"][0]["text"]
    assert not any(word in str(sent.json) for word in ("Northfell", "Figure 1", "report.txt"))


def test_the_instruction_is_in_the_language_of_the_document(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """A Chinese document has its pictures described in Chinese."""
    workshop.pool.elements = (element(0, "果园种植梨树，收成逐年增加。"), picture(1))
    workshop.ingest(api.url)
    assert "用中文写一段话" in api.asked[0].json["system"][0]["text"]


@pytest.mark.parametrize(
    "changed",
    [
        {"box": BBox(0, 0, 99, 99)},
        {"box": BBox(0, 0, 590, 30)},
        {"regions": ()},
        {"hidden": "white on white"},
        {"category": "Header"},
    ],
    ids=["small", "a rule", "without a region", "hidden", "furniture"],
)
def test_decoration_is_not_described(workshop: Workshop, api: ScriptedMessagesAPI, changed: dict[str, Any]) -> None:
    """What is too small, has no place or is not part of what the page says costs nothing."""
    shown = picture(1, **{"box": changed["box"]} if "box" in changed else {})
    workshop.pool.elements = (PROSE, replace(shown, **{key: changed[key] for key in changed if key != "box"}))
    workshop.ingest(api.url)
    assert (api.asked, workshop.captions, workshop.flags) == ([], [], ("repaired",))


def test_the_largest_pictures_are_described(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """Beyond the most of one document the flag tells how many have no description; the next run asks for no more."""
    boxes = [BBox(0, 0, 100 + 10 * size, 200) for size in (1, 3, 2)]
    workshop.pool.elements = (PROSE, *(picture(order, box=box) for order, box in enumerate(boxes, 1)))
    workshop.most = 2
    workshop.ingest(api.url)
    assert [caption.order for caption in workshop.captions] == [2, 3]
    (flag,) = workshop.flags[1:]
    assert flag.startswith("1 pictures without a description: there are more")
    assert reason_in("zh", flag) == "1 张图片没有描述：超出单个文档的描述数量上限(KB_QA_CAPTIONS_PER_DOCUMENT)"
    assert workshop.ingest(api.url).reason == "unchanged"
    assert len(api.asked) == 2


def test_the_same_picture_is_described_once(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """However often a document shows it."""
    workshop.pool.elements = (PROSE, picture(1), picture(2))
    workshop.ingest(api.url)
    assert len(api.asked) == 1
    assert [caption.order for caption in workshop.captions] == [1, 2]


FAULTS: dict[str, tuple[Scripted, dict[str, Any], str]] = {
    "429": (HttpFault(429, "rate_limit_error"), {}, "takes no more requests"),
    "529": (HttpFault(529, "overloaded_error"), {}, "overloaded"),
    "500": (HttpFault(500), {}, "the model failed"),
    "401": (HttpFault(401, "authentication_error"), {}, "no key that the model's host accepts"),
    "400": (HttpFault(400, "invalid_request_error"), {}, "rejected the request"),
    "silence": (said("A", silence_after=1), {"silence": 0.2}, "did not answer in time"),
    "cut": (said(SHOWN, end_after=2), {}, "the model failed"),
    "garbage": (HttpFault(200, body="<html>", content_type="application/json"), {}, "the model failed"),
}


@pytest.mark.parametrize(("fault", "connection", "told"), FAULTS.values(), ids=FAULTS)
def test_a_failure_stops_no_ingest_and_the_next_one_fills_it(
    workshop: Workshop, fault: Scripted, connection: dict[str, Any], told: str
) -> None:
    """The document is ready, its flag says what is missing and why, and an unchanged file is not parsed again."""
    with scripted_messages_api(fault, otherwise=DESCRIBED) as api:
        assert workshop.ingest(api.url, **connection).state == "ready"
        assert workshop.captions == []
        (flag,) = workshop.flags[1:]
        assert flag.startswith("1 pictures without a description: ")
        assert told in flag
        assert reason_in("zh", flag).startswith("1 张图片没有描述：")
        before = [text for _, text in texts(workshop)]
        outcome = workshop.ingest(api.url)
        assert (outcome.state, outcome.reason) == ("ready", "")
        assert (workshop.flags, workshop.pool.parsed) == (("repaired",), 1)
        assert [text for origin, text in texts(workshop) if origin != "caption"] == before
        assert [caption.text for caption in workshop.captions] == [SHOWN]
        asked = len(api.asked)
        assert workshop.ingest(api.url).reason == "unchanged"
        assert len(api.asked) == asked


def test_without_a_key_the_flag_says_so(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """And a file that was ingested before the setting was on gets its descriptions without a second parse."""
    workshop.ingest_with(None)
    assert workshop.flags == ("repaired",)
    assert workshop.ingest().reason == "unchanged"
    assert workshop.flags[1:] == ("1 pictures without a description: there is no key that the model's host accepts",)
    workshop.ingest(api.url)
    assert (len(workshop.captions), workshop.flags, workshop.pool.parsed) == (1, ("repaired",), 1)


def test_no_description_is_begun_that_the_budget_cannot_pay(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """Nothing is sent; the flag tells it; with more money the next ingest goes on."""
    workshop.pool.elements = (PROSE, *several(5))
    spending = InMemorySpending()
    price = Price.of(3, 15)
    poor = Accounts(spending, Counters(), price, Budget(per_day=1000))
    workshop.ingest(api.url, poor)
    assert (api.asked, workshop.flags[1:]) == ([], ("5 pictures without a description: the budget is spent",))
    workshop.ingest(api.url, Accounts(spending, Counters(), price, Budget(per_day=10**9)))
    assert (len(api.asked), len(workshop.captions), workshop.flags[1:]) == (5, 5, ())
    assert sum(spending.days.values()) > 0


def test_a_host_that_fails_is_left_alone(workshop: Workshop) -> None:
    """After three failures in a row no picture of the run is asked for any more."""
    workshop.pool.elements = (PROSE, *several(10))
    with scripted_messages_api(otherwise=HttpFault(529, "overloaded_error")) as api:
        workshop.ingest(api.url)
        assert 3 <= len(api.asked) <= 5
    assert workshop.flags[1:] == ("10 pictures without a description: the model is overloaded",)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_killed_ingest_pays_for_no_picture_twice(workshop: Workshop) -> None:
    """What was described before the end is kept; the next ingest asks for the rest alone."""
    workshop.pool.elements = (PROSE, *several(5))
    with scripted_messages_api(otherwise=DESCRIBED) as dying, pytest.raises(KeyboardInterrupt):
        workshop.ingest_with(DyingDescriber(OPTIONS, upstream(dying.url)))
    gc.collect()  # a request that was on its way ends here, and with a warning: nobody can await it any more
    with workshop.ledger.database.read() as connection:
        kept = connection.execute(select(func.count()).select_from(captions)).scalar_one()
    assert kept >= 2
    with scripted_messages_api(otherwise=DESCRIBED) as api:
        assert workshop.ingest(api.url).state == "ready"
        assert len(api.asked) == 5 - kept
    assert (len(workshop.captions), workshop.pool.parsed) == (5, 1)


class DyingDescriber(ModelDescriber):
    """The process ends at the fifth picture: with three at once, two are kept by then."""

    asked = 0

    async def describe(self, png: bytes, language: Language) -> str:
        self.asked += 1
        if self.asked == 5:
            raise KeyboardInterrupt
        return await super().describe(png, language)


def test_a_model_that_says_nothing_is_asked_once(workshop: Workshop) -> None:
    """An empty reply is remembered like a description."""
    with scripted_messages_api(otherwise=said(" ")) as api:
        workshop.ingest(api.url)
        workshop.ingest(api.url)
        assert len(api.asked) == 1
    assert workshop.flags[1:] == ("1 pictures without a description: the model wrote none",)


def test_a_picture_that_cannot_be_drawn_is_told(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """Nothing is sent for it."""
    workshop.pictures.broken = True
    workshop.ingest(api.url)
    assert (api.asked, workshop.flags[1:]) == ([], ("1 pictures without a description: they cannot be drawn",))


def test_every_reason_is_told_in_chinese() -> None:
    """No flag of this stage stays English for a Chinese reader."""
    for reason in REASONS.values():
        flag = f"3 pictures without a description: {reason}"
        assert reason_in("zh", flag) != flag


ASKED = "What does the bar chart of the quarterly harvest show?"


def test_an_answer_from_a_description_is_shown_as_the_models(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """Sources, citation, label and Markdown say that a model described it, and which; its spot is the picture."""
    workshop.ingest(api.url)
    cited = said("The harvest rises in every quarter.", block_location(0, 1))
    with scripted_messages_api(_of_caption(cited)) as answering:
        events = workshop.ask(ASKED, claude(answering.url))
        sent = str(answering.asked[0].json)
    source = next(each for each in _named(events, "sources")[0]["sources"] if each["origin"] == "caption")
    (citation,) = _named(events, "citation")
    for told in (source, citation):
        assert told["described_by"] == OPTIONS.model_id
        assert told["label"] == f"report.txt · P1·image·described by a model ({OPTIONS.model_id})"
        assert [region["bbox"] for region in told["regions"]] == [list(CHART.as_tuple())]
    assert citation["level"] == "region"
    assert f"described by a model \\({OPTIONS.model_id}\\)".replace("\\", "") in to_markdown(events).replace("\\", "")
    assert "not print of the document" in sent
    assert not _named(events, "refusal")


def test_a_figure_of_a_description_is_withheld(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """A model that repeats a number which only a description says is not believed, whatever it cites."""
    workshop.ingest(api.url)
    number = said("The tallest bar stands at 913 tonnes.", block_location(0, 2))
    with scripted_messages_api(_of_caption(number)) as answering:
        events = workshop.ask(ASKED, claude(answering.url))
    assert "913" not in "".join(event["text"] for event in _named(events, "delta"))
    ((figure,),) = [event["figures"] for event in _named(events, "withheld")]
    assert (figure["raw"], figure["status"]) == ("913 tonnes", "unsupported")


def test_without_a_model_no_figure_of_a_description_is_quoted(workshop: Workshop, api: ScriptedMessagesAPI) -> None:
    """The extractive model passes them by."""
    workshop.ingest(api.url)
    events = workshop.ask("How many tonnes is the tallest bar of the quarterly harvest?", ExtractiveModel())
    assert "913" not in "".join(event["text"] for event in _named(events, "delta"))


def test_the_chart_of_a_sample_is_described_by_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: ScriptedMessagesAPI
) -> None:
    """Drawn by a child, sent by the writer: the key is in its environment, and in none of its children's."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    settings = Settings(kb=tmp_path / "kb", captions=True)
    sample = tmp_path / "briefing.pdf"
    with pymupdf.open(SAMPLES / "briefing.pdf") as document:
        document.select([2])
        document.save(sample)
    for expected in ("", "unchanged"):
        (outcome,) = ingest_into(settings, [sample], IngestProgress())
        assert (outcome.state, outcome.reason) == ("ready", expected)
    assert len(api.asked) == 2
    pngs = [base64.b64decode(each.json["messages"][0]["content"][0]["source"]["data"]) for each in api.asked]
    widths = sorted(int.from_bytes(png[16:20], "big") for png in pngs)
    assert all(900 < width <= 1201 for width in widths)
    elements = parsed_document(settings, sample).elements
    shown = [(element.origin, element.category) for element in elements if element.element_type == "image"]
    assert shown == [("text-layer", "Image"), ("caption", "Image")] * 2
    lines = [element_line(element) for element in elements if element.origin == "caption"]
    assert {(line["origin"], line["described_by"]) for line in lines} == {("caption", settings.model_id)}
    assert not locate("The harvest rises in every quarter.", elements).found


def test_without_the_setting_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: ScriptedMessagesAPI
) -> None:
    """A key alone describes no picture."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    picture_file = tmp_path / "chart.png"
    with pymupdf.open(SAMPLES / "briefing.pdf") as document:
        document[2].get_pixmap(clip=(72, 160, 490, 480), dpi=150).save(picture_file)
    ingest_into(Settings(kb=tmp_path / "kb"), [picture_file], IngestProgress())
    assert api.asked == []


def _named(events: Sequence[AnswerEvent], name: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in events if event.event == name]


def _of_caption(reply: Reply) -> Any:
    """The reply, citing the document that holds the description, wherever it stands among the materials."""

    def scripted(body: Any) -> Reply:
        documents = [block for block in body["messages"][0]["content"] if block["type"] == "document"]
        place = next(index for index, each in enumerate(documents) if SHOWN[:30] in str(each))
        (text,) = reply.blocks
        citations = tuple(dict(citation) | {"document_index": place} for citation in text.citations)  # type: ignore[union-attr]
        return replace(reply, blocks=(replace(text, citations=citations),))  # type: ignore[call-arg]

    return scripted
