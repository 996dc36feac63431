"""The scripted service with keys: one for each scope, one of another knowledge base, one that ended."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from kb_qa.access_keys import AccessKeys, KeyScope
from kb_qa.audit import AuditLog
from kb_qa.counters import Counters
from kb_qa.database import Database
from kb_qa.service import create_app
from kb_qa.service.parts import Operations
from kb_qa.settings import Settings
from kb_qa.testing.serving import serving
from tests.scripted_service import CountingRenderer, ScriptedKnowledgeBase, scripted_intake

SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")


@dataclass(slots=True)
class Keyed:
    client: httpx.Client
    keys: AccessKeys
    secrets: dict[str, str]
    folder: Path
    knowledge_base: Any
    counters: Counters

    def ask(self, method: str, path: str, key: str = "", **given: Any) -> httpx.Response:
        """As `key`, one of `secrets` or a text of its own."""
        headers = given.pop("headers", {})
        if key:
            headers = headers | {"Authorization": f"Bearer {self.secrets.get(key, key)}"}
        return self.client.request(method, path, headers=headers, **given)

    @property
    def audit(self) -> Path:
        return self.folder / "audit" / "audit.jsonl"

    def audited(self, lines: int) -> str:
        """The audit log once it has so many lines: one is written after its answer, which may be here first."""
        deadline = time.monotonic() + 10
        while (text := self.audit.read_text(encoding="ascii")).count("\n") < lines and time.monotonic() < deadline:
            time.sleep(0.01)
        return text


@contextmanager
def keyed_service(knowledge_base: Any = None, *, made: bool = True, **settings: Any) -> Iterator[Keyed]:
    """`made` False: no key exists yet."""
    knowledge_base = knowledge_base or ScriptedKnowledgeBase()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "kb"
        with closing(Database.open(folder, create=True)) as database:
            keys = AccessKeys(database)
            secrets = _made(keys) if made else {}
            given = replace(Settings(kb=folder), **settings)
            audit = AuditLog(folder / "audit", megabytes=1, files=1)
            counters = Counters()
            operations = Operations(keys, audit)
            app = create_app(
                knowledge_base,
                CountingRenderer(),  # type: ignore[arg-type]
                given,
                counters=counters,
                operations=operations,
                intake=scripted_intake(folder, knowledge_base.library),
            )
            with serving(app, log_config=None) as base, httpx.Client(base_url=base, timeout=10) as client:
                yield Keyed(client, keys, secrets, folder, knowledge_base, counters)
            audit.close()


def _made(keys: AccessKeys) -> dict[str, str]:
    secrets = {scope: keys.create(scope, [scope])[1] for scope in SCOPES}
    secrets["other"] = keys.create("other", ["admin"], knowledge_base="elsewhere")[1]
    secrets["ended"] = keys.create("ended", ["admin"])[1]
    keys.revoke("ended")
    return secrets
