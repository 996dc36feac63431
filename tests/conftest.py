"""What every test may rely on."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The service runs on asyncio."""
    return "asyncio"
