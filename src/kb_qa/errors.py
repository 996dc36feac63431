"""The exception tree. Refusing to answer is a value, not an exception.

KbQaError
├── InputError                     what was handed in is wrong                     exit 2, HTTP 4xx
│   ├── NotFoundError              no such document, page, answer or citation      404
│   ├── InvalidRegionError         a bbox that is degenerate, inverted, off the page or not finite
│   ├── NoDocumentsError           a path without any document
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
│   ├── DamagedIndexError          the vector index cannot be read; it is rebuilt from the ledger
│   └── MissingDependencyError     an optional package is not installed
└── ModelError                     the language model failed; `retryable` says whether to try again   502
"""

from __future__ import annotations

from typing import ClassVar


class KbQaError(Exception):
    """`str(error)` is one clear sentence for a reader: what failed, for which value, what to do next."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    retryable: bool = False


def exit_code_of(code: str) -> int:
    """The exit code that goes with an error's code, as an event or a response carries it."""
    kinds = [KbQaError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind.exit_code for kind in kinds if kind.code == code), KbQaError.exit_code)


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


class DamagedIndexError(EnvironmentProblemError):
    code = "damaged_index"
    retryable: bool = True


class MissingDependencyError(EnvironmentProblemError):
    code = "missing_dependency"


class ModelError(KbQaError):
    """`retryable` is set per instance: an overload may pass, a wrong key does not."""

    code = "model_failed"
    status = 502

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
