"""parse → describe → chunk: pictures described by a model, in the writer's own process. No failure stops an ingest.

A description is an element of origin `caption` behind its picture. What is missing is said by the document's flags, and
looked for again by the next ingest of the same file.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kb_qa.answers import Language
from kb_qa.elements import FURNITURE, Element, content_id
from kb_qa.errors import (
    BudgetSpentError,
    KbQaError,
    ModelAccessError,
    ModelDeclinedError,
    ModelEmptyError,
    ModelError,
    ModelOverloadedError,
    ModelRateLimitedError,
    ModelRejectedError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from kb_qa.geometry import Region
from kb_qa.guardrails.languages import language_of
from kb_qa.ledger import Ledger
from kb_qa.protocols import RegionPictures

log = logging.getLogger(__name__)

# What is smaller is a logo, an icon, a rule: square points, and points of the shorter side.
LEAST_AREA = 10_000.0
LEAST_SIDE = 40.0
MOST_BYTES = 3_700_000  # of a PNG: as base64 it has what the API takes
AT_ONCE = 3
MOST_FAILURES = 3  # one after the other: then the host is left alone until the next ingest

TOO_MANY = "there are more than are described of one document (KB_QA_CAPTIONS_PER_DOCUMENT)"
NOT_DRAWN = "they cannot be drawn"
TOO_LARGE = "they are too large"
NOTHING_SAID = "the model wrote none"
FAILED = "the model failed"
REASONS: Mapping[type[KbQaError], str] = {
    BudgetSpentError: "the budget is spent",
    ModelAccessError: "there is no key that the model's host accepts",
    ModelRateLimitedError: "the model's host takes no more requests for now",
    ModelOverloadedError: "the model is overloaded",
    ModelUnreachableError: "the model's host cannot be reached",
    ModelTimeoutError: "the model did not answer in time",
    ModelRejectedError: "the model's host rejected the request",
}
_FOR_ALL = (BudgetSpentError, ModelAccessError)  # what no other picture of this run would change
_DONE, _MISSING = " described by ", " without a description: "


class PictureDescriber(Protocol):
    """A model that sees (`models.describer.ModelDescriber`)."""

    @property
    def id(self) -> str: ...

    def instruction(self, language: Language) -> str: ...

    async def describe(self, png: bytes, language: Language) -> str:
        """Raises ModelError."""
        ...


@dataclass(slots=True)
class Captions:
    """The stage over its parts; `most` pictures of a document are described, the largest."""

    ledger: Ledger
    pictures: RegionPictures
    describer: PictureDescriber
    most: int
    failures: int = 0  # one after the other
    given_up: str = ""  # why no more is asked in this run

    def describe(self, version: int) -> None:
        """Puts what the pictures of a parsed version are said to show into it."""
        parsed = self.ledger.load_parse(version)
        found = self._found(parsed.elements)
        if found.wanted:
            self.ledger.store_captions(version, found.captions, found.flags(parsed.flags))

    def renewed(self, version: int) -> int:
        """The version to go on with: the ready one, or a new one where pictures were described that were not yet.

        Nothing is parsed again.
        """
        images = self.ledger.images(version)
        known = {each.id for each in images if each.origin == "caption"}
        if all(caption_id(each) in known for each in _chosen(images, self.most)):
            return version
        parsed = self.ledger.load_parse(version)
        found = self._found(parsed.elements)
        flags = found.flags(parsed.flags)
        if {each.id for each in found.captions} <= known:
            if flags != parsed.flags:
                self.ledger.set_flags(version, flags)
            return version
        made = self.ledger.revise(version)
        self.ledger.store_captions(made, found.captions, flags)
        return made

    def _found(self, elements: Sequence[Element]) -> _Found:
        wanted = _worth_describing(elements)
        found = _Found(wanted=len(wanted))
        chosen = _chosen(elements, self.most)
        found.missing[TOO_MANY] = len(wanted) - len(chosen)
        if chosen:
            printed = "\n".join(each.text for each in elements if each.origin != "caption")
            kept = {each.id: each for each in elements if each.origin == "caption"}
            asyncio.run(self._describe_all(chosen, kept, language_of(printed), found))
        return found

    async def _describe_all(
        self, chosen: Sequence[Element], kept: Mapping[str, Element], language: Language, found: _Found
    ) -> None:
        """Each picture once, however often the document shows it; what the version says already stays."""
        alike: dict[bytes, list[Element]] = {}
        for element in chosen:
            if caption_id(element) in kept:
                found.captions.append(kept[caption_id(element)])
            elif png := await self._drawn(element, found):
                alike.setdefault(png, []).append(element)
        room = asyncio.Semaphore(AT_ONCE)

        async def describe(png: bytes, shown: Sequence[Element]) -> None:
            async with room:
                text, reason = await self._description(png, language)
            if text:
                found.captions += [caption_of(element, text, self.describer.id) for element in shown]
            else:
                found.missing[reason] += len(shown)

        await asyncio.gather(*(describe(png, shown) for png, shown in alike.items()))
        found.captions.sort(key=lambda each: each.order)

    async def _drawn(self, element: Element, found: _Found) -> bytes:
        """The picture; empty, and counted as missing, where there is none to send."""
        try:
            png = await self.pictures.png(element.document_id, _region(element))
        except KbQaError as error:
            log.warning("a picture of %s cannot be drawn: %s", element.document_id, error)
            found.missing[NOT_DRAWN] += 1
            return b""
        if len(png) > MOST_BYTES:
            found.missing[TOO_LARGE] += 1
            return b""
        return png

    async def _description(self, png: bytes, language: Language) -> tuple[str, str]:
        """The text, kept from an earlier run or asked for and kept now; or "" and why there is none."""
        key = {"model": self.describer.id, "instruction": self.describer.instruction(language)}
        known = await asyncio.to_thread(self.ledger.caption, png, **key)
        if known is not None:
            return known, NOTHING_SAID
        if self.given_up:
            return "", self.given_up
        try:
            text = await self.describer.describe(png, language)
        except (ModelDeclinedError, ModelEmptyError):
            text = ""  # it would be paid for, and say nothing, each time
        except ModelError as error:
            return "", self._failed(error)
        self.failures = 0
        await asyncio.to_thread(self.ledger.keep_caption, png, text, **key)
        return text, NOTHING_SAID

    def _failed(self, error: ModelError) -> str:
        reason = REASONS.get(type(error), FAILED)
        self.failures += 1
        if not self.given_up and (isinstance(error, _FOR_ALL) or self.failures >= MOST_FAILURES):
            self.given_up = reason
            log.warning("no more pictures are described in this run: %s", reason)
        return reason


@dataclass(slots=True)
class _Found:
    wanted: int
    captions: list[Element] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)  # by reason

    def flags(self, before: Iterable[str]) -> tuple[str, ...]:
        """The document's flags, with whose words stand in it, and what is missing now."""
        models = Counter(each.described_by for each in self.captions)
        told = [f"{count} pictures{_DONE}{model}" for model, count in sorted(models.items())]
        told += [f"{count} pictures{_MISSING}{reason}" for reason, count in sorted(self.missing.items()) if count]
        return (*(flag for flag in before if _DONE not in flag and _MISSING not in flag), *told)


def caption_id(picture: Element) -> str:
    return content_id(picture.id, "caption")


def caption_of(picture: Element, text: str, model: str) -> Element:
    """What the model wrote of the picture, where the picture stands."""
    return replace(
        picture,
        id=caption_id(picture),
        text=text,
        origin="caption",
        confidence=None,
        words=(),
        table=None,
        described_by=model,
    )


def _chosen(elements: Iterable[Element], most: int) -> Sequence[Element]:
    """The largest of them, in their order."""
    wanted = _worth_describing(elements)
    largest = {each.id for each in sorted(wanted, key=lambda each: -_area(each))[:most]}
    return [each for each in wanted if each.id in largest]


def _worth_describing(elements: Iterable[Element]) -> Sequence[Element]:
    return [
        each
        for each in elements
        if each.element_type == "image"
        and each.origin != "caption"
        and not each.hidden
        and each.category not in FURNITURE
        and _area(each) >= LEAST_AREA
    ]


def _area(element: Element) -> float:
    """Of the region that is shown; 0 where there is none, or it is too narrow for a picture."""
    box = _region(element).bbox
    return 0.0 if box is None or min(box.width, box.height) < LEAST_SIDE else box.area


def _region(element: Element) -> Region:
    """The first region with geometry."""
    return next((region for region in element.regions if region.bbox is not None), Region(0, None))
