"""A model that describes a picture, over real HTTP: short, whole sentences on one line, or a typed failure."""

from __future__ import annotations

import base64

import pytest

from kb_qa.errors import ModelAccessError, ModelEmptyError, ModelError
from kb_qa.models.describer import INSTRUCTIONS, MOST_CHARACTERS, MOST_TOKENS, ModelDescriber
from kb_qa.testing import Reply, said, scripted_messages_api
from tests.claude_parts import OPTIONS, upstream

PNG = b"\x89PNG and so on"
LONG = "It rises. " * 400


async def described(reply: Reply) -> str:
    with scripted_messages_api(reply) as api:
        return await ModelDescriber(OPTIONS, upstream(api.url)).describe(PNG, "en")


async def test_a_description_is_one_short_call() -> None:
    """The instruction is the system prompt, the picture the only content, and the length is bounded."""
    with scripted_messages_api(said("A chart.")) as api:
        assert await ModelDescriber(OPTIONS, upstream(api.url)).describe(PNG, "zh") == "A chart."
        sent = api.asked[0].json
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert sent["messages"] == [{"role": "user", "content": [{"type": "image", "source": source}]}]
    assert sent["system"] == [{"type": "text", "text": INSTRUCTIONS["zh"]}]
    assert (sent["model"], sent["max_tokens"]) == (OPTIONS.model_id, MOST_TOKENS)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (said("A chart.\n\nIt\u202e rises.\x07 "), "A chart. It rises."),
        (said("It rises to 4.1 tonnes. It fal", stop_reason="max_tokens"), "It rises to 4.1 tonnes."),
        (said(LONG), LONG[:MOST_CHARACTERS].strip()),
        (said("一张柱状图。逐季上升。"), "一张柱状图。逐季上升。"),
    ],
    ids=["one line of visible characters", "cut", "endless", "chinese"],
)
async def test_whole_sentences_are_kept(reply: Reply, expected: str) -> None:
    """What a cut left of a sentence goes, and so does what is beyond the bound."""
    assert await described(reply) == expected


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (said(" "), ModelEmptyError),
        (said("A chart of", stop_reason="max_tokens"), ModelEmptyError),
        (said("I cannot", stop_reason="refusal"), ModelEmptyError),
    ],
    ids=["nothing", "no whole sentence", "declined"],
)
async def test_nothing_is_a_failure(reply: Reply, kind: type[ModelError]) -> None:
    """There is no description without a sentence."""
    with pytest.raises(kind):
        await described(reply)


async def test_without_a_key_nothing_is_sent() -> None:
    """A describer without a host refuses every picture."""
    with pytest.raises(ModelAccessError):
        await ModelDescriber(OPTIONS, None).describe(PNG, "en")


def test_instructions_are_told_apart_by_language() -> None:
    """What was asked for in other words is another description."""
    describer = ModelDescriber(OPTIONS, None)
    assert describer.instruction("en") != describer.instruction("zh")
