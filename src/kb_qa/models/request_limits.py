"""What a Messages API takes at the most (S3.3), checked before anything is sent."""

from __future__ import annotations

import json

from kb_qa.answers import Language
from kb_qa.errors import ModelTooLargeError
from kb_qa.models.requests import LARGE_WINDOW, MessagesRequest

MOST_BYTES = 32 * 1024 * 1024
MOST_PAGES = 600
MOST_PAGES_OF_SMALL_WINDOWS = 100


def page_limit(window: int) -> int:
    """How many pages of PDF a model with a window of so many tokens takes in one request."""
    return MOST_PAGES if window >= LARGE_WINDOW else MOST_PAGES_OF_SMALL_WINDOWS


def encoded_size(request: MessagesRequest) -> int:
    """Bytes of the request's body on the wire, base64 included."""
    return len(json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def check_request(request: MessagesRequest, language: Language) -> int:
    """The request's size in bytes. Raises ModelTooLargeError where it has more pages or bytes than the API takes."""
    pages = page_limit(request.window)
    if request.pdf_pages > pages:
        raise ModelTooLargeError(
            f"文档共 {request.pdf_pages} 页，模型一次最多接受 {pages} 页；请只选择需要的页"
            if language == "zh"
            else f"the document has {request.pdf_pages} pages, and the model takes {pages} at a time; choose fewer"
        )
    size = encoded_size(request)
    if size > MOST_BYTES:
        shown, most = size / 2**20, MOST_BYTES // 2**20
        raise ModelTooLargeError(
            f"请求有 {shown:.1f} MB，模型一次最多接受 {most} MB；请减少材料或图片"
            if language == "zh"
            else f"the request has {shown:.1f} MB, and the model takes {most} MB at a time; send fewer materials"
        )
    return size
