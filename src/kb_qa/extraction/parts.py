"""Whether figures are those of a part: of a segment, or of the parent company alone."""

from __future__ import annotations

import re

from kb_qa.answers import Context
from kb_qa.extraction.candidates import Candidate, heading_of
from kb_qa.extraction.request import Request
from kb_qa.extraction.rows import names_asked

_PART = re.compile(
    r"(?ai)\b(?:parent[- ]company|parent only|registrant only"
    r"|condensed (?:financial information of|statements?|balance sheets?)|segments?|pro forma)\b"
    r"|母公司(?!所有者|股东|的)|分部"
)
_COMPANY_ALONE = re.compile(r"(?ai)\b(?:company|parent)(?:[’']s)? (?:statements?|balance sheets?|income statements?)\b")
_OF_GROUP = re.compile(r"(?ai)\b(?:consolidated|group)(?:[’']s)? (?:statements?|balance sheets?|income statements?)\b")
# A row that only the statements of a parent alone have.
_PARENTS_ROW = re.compile(r"(?ai)\bundistributed (?:net )?(?:income|earnings)(?: \(?loss\)?)? of subsidiar")


def is_of_a_part(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether the figures are those of the parent alone or of a segment, and the question names neither."""
    if any(names_asked(cell, wanted) for _, cell in candidate.pairs):
        return False  # the part that is asked for: `China`
    heading = heading_of(candidate.material)
    around = _PART.search(heading)
    if around is not None and around[0].lower().split()[0] not in wanted.text.lower():
        return True
    if _COMPANY_ALONE.search(heading) and not _COMPANY_ALONE.search(wanted.text) and _has_group(candidate, context):
        return True
    elements = {block.element_id for block in candidate.material.chunk.blocks}
    return bool(candidate.pairs) and any(
        block.element_id in elements and _PARENTS_ROW.search(block.text)
        for material in context.materials
        for block in material.chunk.blocks
    )


def _has_group(candidate: Candidate, context: Context) -> bool:
    """Whether the document's statements of the whole group are there as well."""
    document_id = candidate.material.chunk.document_id
    headings = (heading_of(each) for each in context.materials if each.chunk.document_id == document_id)
    return any(map(_OF_GROUP.search, headings))
