"""Which whole files a model's host has: one that is asked about again is uploaded once, and named from then on."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from kb_qa.answers import WholeFile
from kb_qa.errors import ModelError

log = logging.getLogger(__name__)

# With its first question a file goes along; an upload pays from the next one on.
UPLOADED_AT = 2

Upload = Callable[[WholeFile], Awaitable[str]]


@dataclass(slots=True)
class HostedFiles:
    """By document id, for as long as this process lives: the host forgets files too, and is then sent them again."""

    asked: Counter[str] = field(default_factory=Counter)
    ids: dict[str, str] = field(default_factory=dict)

    async def file_id(self, whole: WholeFile, upload: Upload) -> str:
        """The host's id of the file; empty where the file is to go along with the request."""
        self.asked[whole.document_id] += 1
        if self.asked[whole.document_id] < UPLOADED_AT:
            return ""
        if whole.document_id not in self.ids:
            try:
                self.ids[whole.document_id] = await upload(whole)
            except ModelError as error:
                log.warning("the file could not be uploaded and goes along with the question: %s", error.code)
                return ""
        return self.ids[whole.document_id]

    def forget(self, whole: WholeFile) -> bool:
        """The host does not know the file any more. Whether it was thought to."""
        return self.ids.pop(whole.document_id, None) is not None
