"""The exception tree. Refusing to answer is a value, not an exception.

KbQaError
├── InputError                     what was handed in is wrong                     exit 2, HTTP 4xx
│   ├── NotFoundError              no such document, page, answer or citation      404
│   ├── InvalidRegionError         a bbox that is degenerate, inverted, off the page or not finite
│   ├── NoDocumentsError           a path without any document
│   ├── TooManyRequestsError       a key took as much as it may for now                429
│   └── RejectedFileError          one file cannot be read; the others go on       exit 1, 415 / 422
│       ├── EmptyFileError         no bytes, no pages, or no content
│       ├── DamagedFileError       truncated or broken beyond repair
│       ├── PasswordRequiredError  encrypted, and no password opens it
│       ├── MisnamedFileError      the bytes are not what the name says
│       ├── UnsupportedFileError   a kind that has no parser
│       ├── LimitExceededError     too many pages, pixels, bytes, or too long
│       │   └── OverrunError       more time or memory than a parser may have, on one page it may be
│       └── CrashedParserError     its parser died, twice, or failed in a way it does not know
├── EnvironmentProblemError        this machine or directory is not ready          exit 3, HTTP 503
│   ├── MissingIndexError          nothing was ingested here
│   ├── ReindexNeededError         the index was made with another embedding model
│   ├── LockHeldError              another process holds the lock; names its pid
│   ├── LostLeaseError             a job went to another worker, or its lease ran out: nothing more is written
│   ├── DamagedIndexError          the vector index cannot be read; it is rebuilt from the ledger
│   ├── MissingDependencyError     an optional package is not installed
│   └── BusyError                  as much is open as the settings allow; `retry_after` says when to come again
│       └── NoRoomError            no room for another upload: its queue or the disk is full    429
└── ModelError                     the language model failed; `retryable` says whether to try again   502
    ├── ModelRateLimitedError      429: too many requests or tokens
    ├── ModelOverloadedError       529, or an overload told mid-stream
    ├── ModelUnavailableError      5xx, or an answer that is none (a proxy's HTML)
    ├── ModelUnreachableError      no connection
    ├── ModelTimeoutError          nothing came for too long
    ├── ModelAccessError           401, 402, 403: the key, or what it may do
    ├── ModelRejectedError         400, 404, 422: the request, or the model's id
    ├── ModelTooLargeError         413, or a request that we do not even send
    ├── ModelInterruptedError      the reply was cut before its end
    ├── ModelDeclinedError         the model refused without a word
    ├── ModelEmptyError            the model said nothing
    └── BudgetSpentError           the call would cost more than is allowed; it was not made
"""

from __future__ import annotations

import errno
from typing import ClassVar


class KbQaError(Exception):
    """`str(error)` is one clear sentence for a reader: what failed, for which value, what to do next."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    retryable: bool = False


def exit_code_of(code: str) -> int:
    """The exit code that goes with an error's code, as an event or a response carries it."""
    return kind_of_error(code).exit_code


def kind_of_error(code: str) -> type[KbQaError]:
    """The class of this code; KbQaError for one that is unknown."""
    kinds = [KbQaError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind for kind in kinds if kind.code == code), KbQaError)


class InputError(KbQaError):
    code = "invalid_input"
    exit_code = 2
    status = 422


class NotFoundError(InputError):
    code = "not_found"
    status = 404


class InvalidRegionError(InputError):
    code = "invalid_region"


class NoDocumentsError(InputError):
    code = "no_documents"


class ReadOnlyError(InputError):
    code = "read_only"


class TooManyRequestsError(InputError):
    """`retry_after`: seconds until it is worth asking again."""

    code = "too_many_requests"
    status = 429
    retryable: bool = True

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RejectedFileError(InputError):
    code = "rejected_file"
    exit_code = 1


class EmptyFileError(RejectedFileError):
    code = "empty_file"


class DamagedFileError(RejectedFileError):
    code = "damaged_file"


class PasswordRequiredError(RejectedFileError):
    code = "password_required"


class MisnamedFileError(RejectedFileError):
    code = "misnamed_file"
    status = 415


class UnsupportedFileError(RejectedFileError):
    code = "unsupported_file"
    status = 415


class LimitExceededError(RejectedFileError):
    code = "limit_exceeded"
    status = 413


class OverrunError(LimitExceededError):
    """Reading less of the file may do."""


class CrashedParserError(RejectedFileError):
    code = "parser_crashed"


class EnvironmentProblemError(KbQaError):
    code = "environment"
    exit_code = 3
    status = 503


class MissingIndexError(EnvironmentProblemError):
    code = "missing_index"


class ReindexNeededError(EnvironmentProblemError):
    code = "reindex_needed"


class LockHeldError(EnvironmentProblemError):
    code = "lock_held"
    retryable: bool = True


class LostLeaseError(EnvironmentProblemError):
    code = "lost_lease"
    retryable: bool = True


class DamagedIndexError(EnvironmentProblemError):
    code = "damaged_index"
    retryable: bool = True


class MissingDependencyError(EnvironmentProblemError):
    code = "missing_dependency"


class BusyError(EnvironmentProblemError):
    """`retry_after` in seconds."""

    code = "busy"
    retryable: bool = True

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NoRoomError(BusyError):
    code = "no_room"
    status = 429


class ModelError(KbQaError):
    """`retryable` is set per instance: an overload may pass, a wrong key does not.

    `upstream_id` is the request id of the model's host, for the log; empty where it gave none.
    """

    code = "model_failed"
    status = 502

    def __init__(self, message: str, *, retryable: bool | None = None, upstream_id: str = "") -> None:
        super().__init__(message)
        if retryable is not None:
            self.retryable = retryable
        self.upstream_id = upstream_id


class ModelRateLimitedError(ModelError):
    code = "model_rate_limited"
    retryable: bool = True


class ModelOverloadedError(ModelError):
    code = "model_overloaded"
    retryable: bool = True


class ModelUnavailableError(ModelError):
    code = "model_unavailable"
    retryable: bool = True


class ModelUnreachableError(ModelError):
    code = "model_unreachable"
    retryable: bool = True


class ModelTimeoutError(ModelError):
    code = "model_timeout"
    retryable: bool = True


class ModelAccessError(ModelError):
    code = "model_access"


class ModelRejectedError(ModelError):
    code = "model_rejected"


class ModelTooLargeError(ModelError):
    code = "model_request_too_large"


class ModelInterruptedError(ModelError):
    code = "model_interrupted"
    retryable: bool = True


class ModelDeclinedError(ModelError):
    code = "model_declined"


class ModelEmptyError(ModelError):
    code = "model_empty"
    retryable: bool = True


class BudgetSpentError(ModelError):
    code = "budget_spent"


# No room on the disk, or none that is allowed.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def disk_error(error: OSError, what: str) -> EnvironmentProblemError:
    """A failed write of a file as an error for a reader; worth another try where the disk was full."""
    problem = EnvironmentProblemError(f"{what} could not be written: {error.strerror or error}")
    problem.retryable = error.errno in FULL
    return problem
