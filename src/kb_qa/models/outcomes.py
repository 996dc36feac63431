"""What goes wrong between us and a model's host → one typed error, told in the question's language.

What the host says is for the log: a reader gets our words alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import anthropic
import httpx2

from kb_qa.answers import Language
from kb_qa.errors import (
    ModelAccessError,
    ModelDeclinedError,
    ModelEmptyError,
    ModelError,
    ModelInterruptedError,
    ModelOverloadedError,
    ModelRateLimitedError,
    ModelRejectedError,
    ModelTimeoutError,
    ModelTooLargeError,
    ModelUnavailableError,
    ModelUnreachableError,
)

# ValueError: data that is no JSON, or no UTF-8.
FAILURES = (anthropic.AnthropicError, httpx2.HTTPError, TimeoutError, ValueError)

_TEXTS: Mapping[type[ModelError], tuple[str, str]] = {
    ModelRateLimitedError: (
        "the model's host takes no more requests for now; ask again in a moment",
        "模型服务请求过多，请稍后再问",
    ),
    ModelOverloadedError: ("the model is overloaded; ask again in a moment", "模型过载，请稍后再问"),
    ModelUnavailableError: ("the model's host failed; ask again in a moment", "模型服务出错，请稍后再问"),
    ModelUnreachableError: (
        "the model's host cannot be reached; check the network and ANTHROPIC_BASE_URL",
        "无法连接模型服务，请检查网络和 ANTHROPIC_BASE_URL",
    ),
    ModelTimeoutError: ("the model said nothing for too long; ask again", "模型长时间没有回应，请重新提问"),
    ModelAccessError: (
        "the model's host does not accept the key, or the key may not use this model; kb-qa doctor checks it",
        "模型服务不接受当前密钥，或该密钥无权使用此模型；可用 kb-qa doctor 检查",
    ),
    ModelRejectedError: (
        "the model's host rejected the request; kb-qa doctor checks the model's id and the settings",
        "模型服务拒绝了请求；可用 kb-qa doctor 检查模型名称和设置",
    ),
    ModelTooLargeError: (
        "the request is larger than the model takes; send fewer materials or pictures",
        "请求超过模型的上限；请减少材料或图片",
    ),
    ModelInterruptedError: (
        "the model's reply was cut off; the text above is not complete",
        "模型的回答中途断开，以上内容不完整",
    ),
    ModelDeclinedError: ("the model declined to answer this question", "模型拒绝回答这个问题"),
    ModelEmptyError: (
        "the model gave no text; ask again, or in other words",
        "模型没有给出内容，请重新提问或换一种问法",
    ),
}
_BY_TYPE: Mapping[str, type[ModelError]] = {
    "overloaded_error": ModelOverloadedError,
    "rate_limit_error": ModelRateLimitedError,
    "authentication_error": ModelAccessError,
    "permission_error": ModelAccessError,
    "billing_error": ModelAccessError,
    "request_too_large": ModelTooLargeError,
    "invalid_request_error": ModelRejectedError,
    "not_found_error": ModelRejectedError,
}
_BY_STATUS: Mapping[int, type[ModelError]] = {
    401: ModelAccessError,
    402: ModelAccessError,
    403: ModelAccessError,
    408: ModelUnavailableError,
    409: ModelUnavailableError,
    413: ModelTooLargeError,
    429: ModelRateLimitedError,
    529: ModelOverloadedError,
}
# Worth another try at once, while no reader has seen any text. A silence has cost its time already.
_TRIED_AGAIN = (
    ModelRateLimitedError,
    ModelOverloadedError,
    ModelUnavailableError,
    ModelUnreachableError,
    ModelInterruptedError,
)


def failure(kind: type[ModelError], language: Language, upstream_id: str = "") -> ModelError:
    """An error of this kind in our words."""
    english, chinese = _TEXTS[kind]
    return kind(chinese if language == "zh" else english, upstream_id=upstream_id)


def outcome_of(error: Exception, language: Language, *, began: bool) -> ModelError:
    """The typed error for one of `FAILURES`; `began` says that the reply had begun."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, anthropic.APIStatusError):
        # An `error` event inside a stream is raised with status 200: its own type says what it is.
        kind = _BY_STATUS.get(error.status_code) or _BY_TYPE.get(str(error.type)) or _by_class(error.status_code)
        return failure(kind, language, error.request_id or "")
    if isinstance(error, (anthropic.APITimeoutError, httpx2.TimeoutException, TimeoutError)):
        kind = ModelUnreachableError if _is_connecting(error) else ModelTimeoutError
        return failure(kind, language)
    if isinstance(error, (anthropic.APIConnectionError, httpx2.HTTPError)):
        return failure(ModelInterruptedError if began else ModelUnreachableError, language)
    if isinstance(error, ValueError):
        return failure(ModelInterruptedError, language)
    return failure(ModelAccessError, language)  # what is left of the SDK's: credentials that it cannot read


def is_tried_again(error: ModelError, cause: Exception) -> bool:
    """Whether the same request is worth another try. The host's own word counts, where it gives one."""
    if isinstance(cause, anthropic.APIStatusError):
        word = cause.response.headers.get("x-should-retry")
        if word in {"true", "false"}:
            return word == "true"
    return isinstance(error, _TRIED_AGAIN)


def asked_wait(cause: Exception) -> float | None:
    """The seconds that the host asks to wait; None where it does not say, or says it in words."""
    if not isinstance(cause, anthropic.APIStatusError):
        return None
    headers = cause.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(float(headers[name]) * unit, 0.0)
        except (KeyError, ValueError):
            continue
    return None


def _by_class(status: int) -> type[ModelError]:
    return ModelRejectedError if 400 <= status < 500 else ModelUnavailableError


def _is_connecting(error: Exception) -> bool:
    return isinstance(error.__cause__ or error, httpx2.ConnectTimeout)
