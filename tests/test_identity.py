"""What a document is called is read once: headers of all pages, the cover, and the organisation named most."""

from __future__ import annotations

from kb_qa.elements import Element
from kb_qa.geometry import Region
from kb_qa.identity import called


def element(order: int, text: str, *, page: int, category: str = "NarrativeText") -> Element:
    return Element(f"e{order}", "d", order, "text", category, text, (Region(page, None),))


def test_headers_cover_and_the_organisation_named_most() -> None:
    """A chapter's header and a company named in passing are not what a document is called."""
    pages = [element(page, f"Acme 2022 | {page}", page=page, category="Header") for page in range(1, 10)]
    chapter = [element(100 + page, "Notes", page=page, category="Header") for page in (8, 9)]
    text = [
        element(200, "Relationships creating success", page=1),
        *(element(300 + n, "In 2022 Acme Mining Limited and its people did well.", page=2) for n in range(9)),
        element(400, "The auditor is Ernst & Young LLP in Leeds.", page=5),
    ]
    names = called([*pages, *chapter, *text])
    assert names[:2] == ("Acme", "Acme Mining Limited")
    assert "Relationships creating success" in names
    assert not {"Notes", "Ernst & Young LLP"} & {*names}


def test_chinese_organisations() -> None:
    """The company's full name, without the words before it."""
    assert "星河科技股份有限公司" in called(
        [element(n, "本年度星河科技股份有限公司实现营业收入。", page=2) for n in range(3)]
    )
