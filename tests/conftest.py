"""What every test may rely on."""

from pathlib import Path

import pytest

from tests.sample_kb import SAMPLES, Run, run


@pytest.fixture
def anyio_backend() -> str:
    """The service runs on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def sample_ingest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A knowledge base of all samples, and what its ingest printed."""
    kb = tmp_path_factory.mktemp("samples") / "kb"
    return kb, run("ingest", SAMPLES, "--kb", kb, "--json")


@pytest.fixture(scope="session")
def sample_kb(sample_ingest: tuple[Path, Run]) -> Path:
    return sample_ingest[0]
