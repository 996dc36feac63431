"""Settings come from the environment, once, and complain clearly."""

from dataclasses import fields
from pathlib import Path

import pytest

from kb_qa.errors import InputError
from kb_qa.settings import Settings
from kb_qa.wiring import policy_of_settings


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
        pytest.param("KB_QA_MODEL", "gpt", id="no model of ours"),
        pytest.param("KB_QA_CACHE_TTL", "2h", id="no time to live"),
        pytest.param("KB_QA_POLICY_GRANULARITY", "sentence", id="no granularity"),
        pytest.param("KB_QA_EFFORT", "huge", id="no effort"),
        pytest.param("KB_QA_TEMPERATURE", "1.5", id="too warm"),
        pytest.param("KB_QA_TEMPERATURE", "nan", id="no number"),
        pytest.param("KB_QA_BUDGET_PER_DAY", "-1", id="negative budget"),
        pytest.param("KB_QA_SEND_PICTURES", "-1", id="negative count"),
    ],
)
def test_a_wrong_value_or_name_is_an_error_that_names_it(name: str, value: str) -> None:
    """A misspelt setting is not silently ignored."""
    with pytest.raises(InputError, match=name):
        Settings.from_environment({name: value})


def test_the_settings_of_a_language_model_are_read() -> None:
    """Numbers with a fraction, an optional one, and words that are one of a few."""
    settings = Settings.from_environment(
        {
            "KB_QA_MODEL": "markers",
            "KB_QA_TEMPERATURE": "0",
            "KB_QA_EFFORT": "low",
            "KB_QA_CACHE_TTL": "1h",
            "KB_QA_BUDGET_PER_DAY": "2.5",
            "KB_QA_SEND_PICTURES": "0",
        }
    )
    assert (settings.model, settings.temperature, settings.effort) == ("markers", 0.0, "low")
    assert (settings.cache_ttl, settings.budget_per_day, settings.send_pictures) == ("1h", 2.5, 0)
    assert Settings().temperature is None


@pytest.mark.parametrize("edition", ["README.md", "README.zh.md"])
@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_every_setting_is_documented(name: str, edition: str) -> None:
    """Both editions list it."""
    readme = Path(__file__).resolve().parent.parent / edition
    assert f"`KB_QA_{name.upper()}`" in readme.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("policy", "kinds", "told"),
    [
        pytest.param("lax", "", "'lax' is no policy", id="mode"),
        pytest.param("strict", "percents=off", "'percents' is no kind", id="kind"),
        pytest.param("strict", "percent=", "'' is no policy", id="no mode"),
    ],
)
def test_a_wrong_policy_is_told(policy: str, kinds: str, told: str, tmp_path: Path) -> None:
    """A misspelt policy is an error, and never a laxer one."""
    with pytest.raises(InputError, match=told):
        policy_of_settings(Settings(kb=tmp_path, policy=policy, policy_kinds=kinds))


def test_the_granularity_of_the_policy_is_read(tmp_path: Path) -> None:
    """From the environment to the policy; a wrong one that no environment checked is told, too."""
    settings = Settings.from_environment({"KB_QA_POLICY_GRANULARITY": "answer", "KB_QA_KB": str(tmp_path)})
    assert policy_of_settings(settings).granularity == "answer"
    assert policy_of_settings(Settings(kb=tmp_path)).granularity == "unit"
    with pytest.raises(InputError, match="'sentence' is no granularity"):
        policy_of_settings(Settings(kb=tmp_path, policy_granularity="sentence"))


def test_a_policy_has_its_kinds_and_the_aliases_of_its_knowledge_base(tmp_path: Path) -> None:
    """What the environment says and what stands in the directory make one policy."""
    (tmp_path / "aliases.toml").write_text('[aliases]\n"top line" = "revenue"\n', encoding="utf-8")
    made = policy_of_settings(Settings(kb=tmp_path, policy="annotate", policy_kinds="ids=off, percent=strict"))
    assert (made.mode, made.overrides) == ("annotate", {"ids": "off", "percent": "strict"})
    assert made.aliases[0] == ("top line", "revenue")
    assert made.hash != policy_of_settings(Settings(kb=tmp_path)).hash


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
