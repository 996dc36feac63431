"""Work that is left for the ingest worker, and what the service and the commands ask of its queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """Work that one process leaves for the ingest worker.

    `state` is queued, running, done or failed. `attempts` counts how often the job was handed out; with the id it is
    the fencing token of whoever has it now. `report` is what the worker last said (see `JobQueue`).
    """

    id: int
    kind: str
    arguments: Mapping[str, Any]
    state: str
    attempts: int
    report: Mapping[str, Any]

    @property
    def is_over(self) -> bool:
        return self.state in {"done", "failed"}


class JobQueue(Protocol):
    """What the service and the commands ask of the job table. Every method may be called from any thread.

    | kind | arguments |
    |---|---|
    | `ingest` | `paths`: files and folders of this machine, absolute; `uploads`: `{file, name}` each, `file` being the
    name of a file in the knowledge base's folder `uploads`, which the job takes away, `name` what the reader calls it;
    `retry`: also what was quarantined (false); `allow_empty`: a folder that lost all its files at once lost them
    indeed (false); `unsettled`: paths of files that are still being written, which stay what they were |
    | `rescan` | `paths`, `allow_empty` and `unsettled` as above; without paths, all folders that were ever given. One
    that is not there is told, and removes nothing |
    | `delete` | `documents`: ids |
    | `reindex` | `embedder`, `backend`, `precision`: the model to change to; `index_only`: none, the model stays |

    A report has `total` (files, once they are counted), `done` (those that are settled), `paused` (why the work waits,
    such as a full disk; empty where it goes on), and of a failed job `error`: `{code, message}`. One of `reindex` has
    `before` and `embedder` (models), and `chunks`, how many it embeds, of which so many are `embedded`.

    Outcomes are the lines of `kb-qa ingest --json`, or of `kb-qa reindex --json`. Those of files have a `state`: ready,
    quarantined, skipped or deleted. On its way there a document has the state of its version: stored, parsing, parsed,
    embedding, indexing (`Library.document`).
    Outcomes say ready when all of the document is in the ledger: it is seen once its index owner has published it.
    """

    def add(self, kind: str, arguments: Mapping[str, Any]) -> int:
        """The new job's id; the worker finds it within a second."""
        ...

    def get(self, job_id: int) -> Job:
        """Raises NotFoundError."""
        ...

    def outcomes(self, job_id: int, after: int = 0) -> Sequence[Mapping[str, Any]]:
        """Those settled after the first `after` ones, in order. A job that is taken up again repeats none."""
        ...

    def waiting(self) -> int:
        """How many jobs are queued or running: what back-pressure goes by."""
        ...
