"""Which model answers: what the settings name, with all that it works with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kb_qa.errors import EnvironmentProblemError, InputError
from kb_qa.meters import Meter, Spending
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.protocols import AnswerModel, PagePlaces, QuestionRewriter, RegionPictures
from kb_qa.settings import Settings

if TYPE_CHECKING:
    from kb_qa.models.accounts import Accounts
    from kb_qa.models.claude import Notes
    from kb_qa.models.describer import ModelDescriber
    from kb_qa.models.requests import CacheTtl, ModelOptions
    from kb_qa.models.upstream import Connection

NANO = 1_000_000_000

# The SDK takes more than a second to import: it is, where a language model answers.


def chosen_model(settings: Settings) -> str:
    """claude, markers or extractive. `auto` is claude where the SDK finds a key.

    Raises EnvironmentProblemError where it finds credentials that it cannot read.
    """
    if settings.model != "auto":
        return settings.model
    return "claude" if has_key() else "extractive"


def has_key() -> bool:
    """Whether the SDK finds credentials, wherever it looks for them."""
    if not _may_have_key():
        return False
    import anthropic

    try:
        client = anthropic.AsyncAnthropic()
    except (anthropic.AnthropicError, ValueError) as error:
        raise EnvironmentProblemError(f"the credentials for the model cannot be read: {error}") from error
    return bool(client.api_key or client.auth_token or client.credentials)


def _may_have_key() -> bool:
    """A cheap look at the places where the SDK looks, before it is imported."""
    names = {name for name in os.environ if name.startswith("ANTHROPIC_")} - {"ANTHROPIC_BASE_URL"}
    return bool(names) or (Path.home() / ".config" / "anthropic").exists()


def open_model(
    settings: Settings,
    *,
    spending: Spending,
    meter: Meter,
    notes_of: Notes,
    pictures: RegionPictures | None = None,
    places: PagePlaces | None = None,
) -> AnswerModel:
    """The model that answers. Raises EnvironmentProblemError without a key, InputError for settings that contradict."""
    kind = chosen_model(settings)
    if kind == "extractive":
        return ExtractiveModel()
    from kb_qa.models.claude import ClaudeModel, PictureBudget
    from kb_qa.models.marked import MarkersModel
    from kb_qa.models.upstream import Upstream

    upstream = Upstream(connection_of(settings, kind), _accounts(settings, spending, meter))
    if kind == "markers":
        return MarkersModel(options_of(settings), upstream)
    budget = PictureBudget(settings.send_pictures, settings.picture_kb * 1024)
    return ClaudeModel(
        options_of(settings), upstream, pictures=pictures, budget=budget, notes_of=notes_of, places=places
    )


def open_rewriter(settings: Settings, *, spending: Spending, meter: Meter) -> QuestionRewriter | None:
    """What makes follow-up questions stand alone; None where no language model answers: then the rules do it alone."""
    kind = chosen_model(settings)
    if kind == "extractive":
        return None
    from kb_qa.models.rewriter import ModelRewriter
    from kb_qa.models.upstream import Upstream

    return ModelRewriter(
        options_of(settings), Upstream(connection_of(settings, kind), _accounts(settings, spending, meter))
    )


def open_describer(settings: Settings, *, spending: Spending, meter: Meter) -> ModelDescriber:
    """What describes pictures, whichever model answers. Without a key it refuses every one.

    Raises InputError for settings that contradict.
    """
    from kb_qa.models.describer import ModelDescriber
    from kb_qa.models.upstream import Upstream

    try:
        connection = connection_of(settings, "claude")
    except EnvironmentProblemError:  # no key, or none that can be read
        return ModelDescriber(options_of(settings), None)
    return ModelDescriber(options_of(settings), Upstream(connection, _accounts(settings, spending, meter)))


def options_of(settings: Settings) -> ModelOptions:
    from kb_qa.models.requests import ModelOptions

    return ModelOptions(
        model_id=settings.model_id,
        window=settings.model_window,
        max_tokens=settings.max_tokens,
        cache_ttl=cast("CacheTtl", settings.cache_ttl),
        temperature=settings.temperature,
        effort=settings.effort,
        name_sources=settings.trust_file_names,
    )


def connection_of(settings: Settings, kind: str) -> Connection:
    """Where the model is reached. A local endpoint asks for no key, and gets none of ours."""
    from kb_qa.models.upstream import Connection

    if has_key():
        return Connection(silence=settings.timeout, streaming=settings.streaming)
    if kind == "markers":
        return Connection(api_key="none", silence=settings.timeout, streaming=settings.streaming)
    raise EnvironmentProblemError(
        "KB_QA_MODEL=claude needs a key: set ANTHROPIC_API_KEY, or KB_QA_MODEL=extractive to answer without a model"
    )


def _accounts(settings: Settings, spending: Spending, meter: Meter) -> Accounts:
    from kb_qa.models.accounts import Accounts, Budget
    from kb_qa.models.prices import price_table

    price = price_table(settings.prices).get(settings.model_id)
    budget = Budget(round(settings.budget_per_answer * NANO), round(settings.budget_per_day * NANO))
    if price is None and budget != Budget():
        raise InputError(
            f"a budget needs the price of {settings.model_id!r}: "
            'set KB_QA_PRICES to JSON such as {"MODEL-ID": {"input": 3, "output": 15}}'
        )
    return Accounts(spending=spending, meter=meter, price=price, budget=budget)
