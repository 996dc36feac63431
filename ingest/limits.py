"""What one document may cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from kb_qa.elements import content_id
from kb_qa.errors import EmptyFileError, LimitExceededError
from kb_qa.settings import Settings

BYTES_PER_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` and `memory_mb` are enforced from outside, on the child process that parses; so is `page_limit`."""

    max_pages: int = 5000
    max_megapixels: int = 25  # a render
    max_file_mb: int = 200
    max_inflated_mb: int = 500
    seconds: int = 900
    page_seconds: int = 90
    memory_mb: int = 6000
    render_office: bool = False  # print Office files to pages, where LibreOffice is installed

    @property
    def page_limit(self) -> float:
        """Seconds of processor time for one page: a bad one leaves time for the rest of its document."""
        return min(self.page_seconds, self.seconds / 4)

    @property
    def digest(self) -> str:
        """Another one may mean another outcome for the same file."""
        return content_id(*astuple(self))

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        return cls(
            max_pages=settings.max_pages,
            max_megapixels=settings.max_megapixels,
            max_file_mb=settings.max_file_mb,
            max_inflated_mb=settings.max_inflated_mb,
            seconds=settings.parse_seconds,
            page_seconds=settings.page_seconds,
            memory_mb=settings.parse_memory_mb,
            render_office=settings.render_office,
        )


def check_size(path: Path, limits: Limits) -> None:
    """Raises EmptyFileError for a file without bytes, LimitExceededError for one past `max_file_mb`."""
    size = path.stat().st_size
    if size == 0:
        raise EmptyFileError(f"{path.name!r} has no bytes; upload the file again")
    if size > limits.max_file_mb * BYTES_PER_MB:
        raise LimitExceededError(
            f"{path.name!r} has {size / BYTES_PER_MB:.0f} MB; the limit is {limits.max_file_mb} MB (KB_QA_MAX_FILE_MB)"
        )


def check_pages(path: Path, count: int, limits: Limits) -> None:
    """Raises LimitExceededError for more pages than `max_pages`."""
    if count > limits.max_pages:
        raise LimitExceededError(f"{path.name!r} has {count} pages; the limit is {limits.max_pages} (KB_QA_MAX_PAGES)")


def took_too_long(path: Path, limits: Limits) -> LimitExceededError:
    return LimitExceededError(f"{path.name!r} took longer than {limits.seconds} s (KB_QA_PARSE_SECONDS)")


def affordable_dpi(width: float, height: float, *, wanted: float, megapixels: float) -> float:
    """The resolution at which a page of width × height points fits the pixel budget, at most `wanted`."""
    pixels = width * height * (wanted / 72) ** 2
    budget = megapixels * 1_000_000
    return wanted if pixels <= budget else wanted * float((budget / pixels) ** 0.5)
