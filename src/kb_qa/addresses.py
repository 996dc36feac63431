"""Where the service shows pages and regions: paths that events and exports give."""

from __future__ import annotations

from kb_qa.geometry import Region


def page_url(document_id: str, page: int) -> str:
    return f"/v1/documents/{document_id}/pages/{page}.png"


def area_url(document_id: str, region: Region) -> str | None:
    """The picture of any region of a document; None where there is no geometry."""
    if region.bbox is None:
        return None
    bbox = ",".join(f"{value:g}" for value in region.bbox.rounded().as_tuple())
    return f"/v1/documents/{document_id}/pages/{region.page}/region.png?bbox={bbox}"
