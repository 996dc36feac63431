"""Whole-document mode: a PDF or a picture that a model reads itself, and where what it quotes was read by us.

What is shown and checked is the same as in any answer: the blocks, words and figures that were parsed. The model sees
the file instead of passages of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kb_qa.answers import BlockCitation, Context, Hit, Language, LocatedRegion, Material, Question, WholeFile
from kb_qa.elements import Block, Chunk, Element
from kb_qa.errors import InputError, NotFoundError
from kb_qa.geometry import BBox
from kb_qa.locate import block_rects, locate
from kb_qa.models.request_limits import MOST_BYTES, page_limit
from kb_qa.models.requests import LARGE_WINDOW
from kb_qa.prompts import material_label
from kb_qa.protocols import Library

NO_READER = "no model that reads files is set; passages of the document are read instead"
_ROOM = 256 * 1024  # bytes of a request, for the prompt, the question and recognised pages

_SIGNATURES: Mapping[bytes, str] = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
_PDF_WITHIN = 1024  # bytes; what a reader of PDF skips before the header


def media_type_of(data: bytes) -> str:
    """By content, of the kinds that a model takes whole; empty for every other."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), "")
    return found or ("application/pdf" if b"%PDF-" in data[:_PDF_WITHIN] else "")


def about_whole(question: Question, name: str, library: Library) -> Question:
    """The question about the one document of this name or id. Blocking.

    Raises NotFoundError where there is none, InputError where there are several.
    """
    found = library.resolve([name])
    if not found:
        raise NotFoundError(
            f"没有可提问的文档 {name!r:.200}；kb-qa documents 可列出全部文档"
            if question.language == "zh"
            else f"there is no document {name!r:.200} that can be asked; kb-qa documents lists them"
        )
    if len(found) > 1:
        raise InputError(
            f"有 {len(found)} 份文档名为 {name!r:.200}；请改用其中一份的 id"
            if question.language == "zh"
            else f"{name!r:.200} is the name of {len(found)} documents; give one's id instead"
        )
    filters = replace(question.filters, documents=(found[0],))
    return replace(question, filters=filters, whole=found[0])


def read_whole(question: Question, library: Library, original: Callable[[str], Path], *, window: int) -> Context | str:
    """All of the document that the question is about; or, for its reader, why passages of it go instead. Blocking.

    `window` is the model's in tokens, 0 for one that reads no files.
    """
    language = question.language
    if not window:
        return "未设置可读取整份文件的模型，答案取自文档的段落" if language == "zh" else NO_READER
    chunks = library.document_chunks(question.whole)
    pages = {region.page for chunk in chunks for region in chunk.regions}
    whole = whole_file(original(question.whole), question.whole, _pages(library, question.whole, max(pages, default=1)))
    reason = problem(whole, language, window=window)
    if reason:
        return f"{reason}；答案取自文档的段落" if language == "zh" else f"{reason}; passages of it are read instead"
    return whole_context(chunks, language, whole)


def _pages(library: Library, document_id: str, last: int) -> int:
    """How many pages the document has: `last` is one with text, and empty ones may follow."""
    while library.page(document_id, last + 1) is not None:
        last += 1
    return last


def whole_file(path: Path, document_id: str, pages: int) -> WholeFile:
    """The file as a model would be sent it. `problem` says whether it may be."""
    data = path.read_bytes()
    return WholeFile(document_id, media_type_of(data), data, max(pages, 1))


def problem(whole: WholeFile, language: Language, *, window: int = LARGE_WINDOW) -> str:
    """Why a model cannot be given the file as a whole, for its reader; empty where it can."""
    zh = language == "zh"
    if not whole.media_type:
        return "只有 PDF 和图片可以整份交给模型" if zh else "only PDF files and pictures can be given to a model whole"
    if whole.is_pdf and b"/Encrypt" in whole.data:
        return "该 PDF 已加密，模型无法读取" if zh else "the PDF is encrypted, and the model cannot read it"
    most = page_limit(window)
    if whole.is_pdf and whole.pages > most:
        if zh:
            return f"该文档有 {whole.pages} 页，模型一次最多接受 {most} 页"
        return f"the document has {whole.pages} pages, and the model takes {most} at a time"
    encoded = 4 * ((len(whole.data) + 2) // 3)
    if encoded > MOST_BYTES - _ROOM:
        size = encoded / 2**20
        if zh:
            return f"该文件编码后有 {size:.1f} MB，模型一次最多接受 32 MB"
        return f"the file has {size:.1f} MB when encoded, and the model takes 32 MB at a time"
    return ""


def whole_context(chunks: Sequence[Chunk], language: Language, whole: WholeFile) -> Context:
    """All that was read of the document, in its order, as materials."""
    materials = tuple(
        Material(number, Hit(chunk, {"fused": 0.0}), material_label(chunk, language))
        for number, chunk in enumerate(chunks, 1)
    )
    return Context(materials, for_readers="", for_models="", whole=whole)


class QuotedPlaces:
    """Where the quotes of a whole document stand (`protocols.PagePlaces`), by its stored words."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def blocks(self, context: Context, pages: range, quote: str) -> Sequence[BlockCitation]:
        """The blocks printed where the quote is located, on the first of the pages that holds it (S2.3)."""
        for page in pages:
            blocks = self._on(context, (page,), quote)
            if blocks:
                return blocks
        return self._on(context, pages, quote)  # a passage over a page break stands whole on none of them

    def _on(self, context: Context, pages: Collection[int], quote: str) -> Sequence[BlockCitation]:
        here = [each for each in context.materials if any(region.page in pages for region in each.chunk.regions)]
        elements = self._elements(here)
        located = locate(quote, sorted(elements.values(), key=lambda element: element.order), pages=pages)
        return tuple(
            BlockCitation(material.number, index)
            for material in here
            for index, block in enumerate(material.chunk.blocks)
            if block.element_id in elements and _is_printed_at(elements[block.element_id], block, located.regions)
        )

    def _elements(self, materials: Sequence[Material]) -> Mapping[str, Element]:
        ids = dict.fromkeys(block.element_id for material in materials for block in material.chunk.blocks)
        found = ((element_id, self._library.element(element_id)) for element_id in ids)
        return {element_id: element for element_id, element in found if element is not None}


def _is_printed_at(element: Element, block: Block, places: Sequence[LocatedRegion]) -> bool:
    """Whether one of the block's lines is printed where one of the located lines is."""
    pages = {place.page: place.rects for place in places}
    if not any(region.page in pages for region in block.regions):
        return False
    return any(
        _is_same_print(line, rect)
        for printed in block_rects(element, block.start, block.end).regions
        for line in printed.rects
        for rect in pages.get(printed.page, ())
    )


def _is_same_print(line: BBox, other: BBox) -> bool:
    """Most of the shorter one's height and of the narrower one's width: neighbours touch."""
    height = min(line.y1, other.y1) - max(line.y0, other.y0)
    width = min(line.x1, other.x1) - max(line.x0, other.x0)
    return height > min(line.height, other.height) / 2 and width > min(line.width, other.width) / 2
