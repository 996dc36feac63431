"""Which model answers, and what stands in its way."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb_qa.answer_models import chosen_model, open_model
from kb_qa.counters import Counters
from kb_qa.errors import EnvironmentProblemError, InputError
from kb_qa.protocols import AnswerModel
from kb_qa.settings import Settings
from kb_qa.testing import InMemorySpending, block_location, said, scripted_messages_api
from tests.claude_parts import replied, stop_of, text_of


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own profile is not found."""
    monkeypatch.setenv("HOME", str(tmp_path))


def opened(settings: Settings) -> AnswerModel:
    return open_model(settings, spending=InMemorySpending(), meter=Counters(), notes_of=lambda _: ())


@pytest.mark.parametrize(
    ("variables", "model", "chosen"),
    [
        pytest.param({}, "auto", "extractive", id="auto without a key"),
        pytest.param({"ANTHROPIC_API_KEY": "k"}, "auto", "claude", id="auto with a key"),
        pytest.param({"ANTHROPIC_AUTH_TOKEN": "t"}, "auto", "claude", id="auto with a token"),
        pytest.param({"ANTHROPIC_API_KEY": ""}, "auto", "extractive", id="auto with an empty key"),
        pytest.param(
            {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "auto", "extractive", id="an address chooses nothing"
        ),
        pytest.param({"ANTHROPIC_API_KEY": "k"}, "extractive", "extractive", id="a key chooses nothing"),
        pytest.param({}, "markers", "markers", id="markers"),
    ],
)
def test_the_model_is_chosen(
    variables: dict[str, str], model: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`auto` goes by whether the SDK finds a key; anything else is what was asked for."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert chosen_model(Settings(model=model)) == chosen
    assert opened(Settings(model=model)).id == ("extractive" if chosen == "extractive" else "claude-sonnet-5-5")


def test_claude_without_a_key_says_what_to_do() -> None:
    """Not at the first question, but when it is opened."""
    with pytest.raises(EnvironmentProblemError, match="ANTHROPIC_API_KEY"):
        opened(Settings(model="claude"))


def test_a_profile_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials that were meant and cannot be read are not passed over."""
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    with pytest.raises(EnvironmentProblemError, match="credentials"):
        opened(Settings(model="auto"))


@pytest.mark.parametrize("budget", [{"budget_per_day": 1.0}, {"budget_per_answer": 0.1}], ids=str)
def test_a_budget_needs_a_price(budget: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose cost is unknown cannot be held to a budget."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    settings = Settings(model="claude", model_id="my-model", **budget)
    with pytest.raises(InputError, match="KB_QA_PRICES"):
        opened(settings)
    assert opened(replace(settings, prices='{"my-model": {"input": 1, "output": 2}}')).id == "my-model"


@pytest.mark.parametrize("model", ["claude", "markers"])
async def test_the_sdks_own_address_and_key_are_honoured(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ANTHROPIC_BASE_URL is where the question goes, with the key that is set; the settings are in the request."""
    cited = (block_location(0, 0),) if model == "claude" else ()
    with scripted_messages_api(said("Net revenue was 4,812 million in 2024.", *cited)) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        if model == "claude":
            monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
        events = await replied(opened(Settings(model=model, max_tokens=77, temperature=0.5, effort="high")))
        sent = api.asked[0]
    assert text_of(events) == "Net revenue was 4,812 million in 2024."
    assert stop_of(events).usage["cost_nano_usd"] > 0
    assert sent.headers["authorization"] == ("Bearer secret" if model == "claude" else "Bearer none")
    assert (sent.json["max_tokens"], sent.json["temperature"]) == (77, 0.5)
    assert sent.json["output_config"] == {"effort": "high"}


def test_answering_without_a_key_does_not_load_the_sdk() -> None:
    """It takes more than a second to import."""
    program = (
        "import sys; from kb_qa.answer_models import chosen_model; from kb_qa.settings import Settings; "
        "import kb_qa.wiring, kb_qa.cli; print(chosen_model(Settings()), 'anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["extractive", "False"]
