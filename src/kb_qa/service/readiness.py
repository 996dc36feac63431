"""Whether the service can answer, and what it waits for where it cannot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Readiness:
    """`reason` says what is being waited for; empty once questions are answered. Set from any thread."""

    reason: str = ""

    def wait_for(self, reason: str) -> None:
        self.reason = reason
