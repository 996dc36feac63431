"""One tiny call that tells whether key, model and settings work."""

from __future__ import annotations

import anthropic

from kb_qa.errors import ModelError
from kb_qa.models.outcomes import FAILURES, outcome_of
from kb_qa.models.requests import ModelOptions, settled_body
from kb_qa.models.upstream import Connection


async def probe(connection: Connection, options: ModelOptions) -> str:
    """What answered, in a sentence. Raises ModelError with what the host said of it: this is for who runs it."""
    body = settled_body(options) | {"max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    try:
        async with connection.client() as client:
            message = await client.messages.create(**body)
    except FAILURES as cause:
        error = outcome_of(cause, "en", began=False)
        said = cause.api_message if isinstance(cause, anthropic.APIStatusError) else str(cause)
        detail = f"; it said: {said!r:.300}" if said else ""
        raise type(error)(f"{error}{detail}", upstream_id=error.upstream_id) from cause
    if not isinstance(message, anthropic.types.Message):
        raise ModelError("the address answers, but not as a Messages API; check ANTHROPIC_BASE_URL")
    return f"{message.model} answers"
