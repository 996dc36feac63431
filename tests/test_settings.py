"""Settings come from the environment, once, and complain clearly."""

from pathlib import Path

import pytest

from kb_qa.errors import InputError
from kb_qa.settings import Settings


def test_defaults_without_environment() -> None:
    """Variables of other programs change nothing."""
    assert Settings.from_environment({"HOME": "/root", "PORT": "1"}) == Settings()


def test_each_kind_of_value_is_read() -> None:
    """Paths, numbers, switches and words are read as what they are."""
    settings = Settings.from_environment(
        {"KB_QA_KB": "/srv/kb", "KB_QA_PORT": "9000", "KB_QA_TRUST_FILE_NAMES": "true", "KB_QA_MODEL": "extractive"}
    )
    assert (settings.kb, settings.port, settings.trust_file_names) == (Path("/srv/kb"), 9000, True)
    assert settings.model == "extractive"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("KB_QA_PORT", "eighty", id="word"),
        pytest.param("KB_QA_PORT", "-1", id="negative"),
        pytest.param("KB_QA_PORT", "99999", id="no port"),
        pytest.param("KB_QA_PARSERS", "0", id="zero"),
        pytest.param("KB_QA_TRUST_FILE_NAMES", "maybe", id="switch"),
        pytest.param("KB_QA_PROT", "1", id="misspelt"),
    ],
)
def test_a_wrong_value_or_name_is_an_error_that_names_it(name: str, value: str) -> None:
    """A misspelt setting is not silently ignored."""
    with pytest.raises(InputError, match=name):
        Settings.from_environment({name: value})


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param({}, Path("~/.cache/kb-qa/models"), id="home"),
        pytest.param({"XDG_CACHE_HOME": "/var/cache"}, Path("/var/cache/kb-qa/models"), id="the user's cache"),
        pytest.param({"XDG_CACHE_HOME": "cache"}, Path("~/.cache/kb-qa/models"), id="not absolute"),
        pytest.param({"XDG_CACHE_HOME": "/var/cache", "KB_QA_MODELS": "/srv/m"}, Path("/srv/m"), id="set"),
    ],
)
def test_models_lie_in_the_users_cache(environment: dict[str, str], expected: Path) -> None:
    """Where the system says that caches are, or where the setting says."""
    assert Settings.from_environment(environment).models == expected
