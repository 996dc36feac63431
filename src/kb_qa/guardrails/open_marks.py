"""Expressions taken out of a stream of text: `⟦…⟧` is for the guard alone, wherever the stream is cut."""

from __future__ import annotations

from kb_qa.guardrails.explicit import MARK

_OPEN, _CLOSE = "⟦", "⟧"
_MOST = 400  # characters of an expression (explicit.MARK)


class MarkReader:
    """Takes text as it comes and gives what readers may see of it; what may still become a mark is kept back."""

    def __init__(self) -> None:
        self._kept = ""
        self.length = 0  # of what was given
        self.expressions: dict[int, str] = {}  # by their place in what was given

    def feed(self, text: str) -> str:
        self._kept += text
        given: list[str] = []
        while (cut := self._next(given)) is not None:
            self._kept = self._kept[cut:]
        return "".join(given)

    def flush(self) -> str:
        """What is kept back is no mark: nothing comes after it."""
        rest, self._kept = self._kept, ""
        self.length += len(rest)
        return rest

    def _next(self, given: list[str]) -> int | None:
        """How much of what is kept was settled; None where it waits for more."""
        opened = self._kept.find(_OPEN)
        if opened < 0:
            # the space before a mark goes with it
            end = len(self._kept) - (self._kept[-1:] in {" ", "\u00a0"})
            return self._give(given, end) if end else None
        match = MARK.search(self._kept)
        if match is not None and match.start() <= opened:
            self._give(given, match.start())
            self.expressions[self.length] = match[1]
            return match.end()
        following = self._kept[opened + 1 :]
        if len(following) <= _MOST and _OPEN not in following and _CLOSE not in following:
            start = opened - (self._kept[opened - 1 : opened] in {" ", "\u00a0"})
            return self._give(given, start) if start else None
        return self._give(given, opened + 1)

    def _give(self, given: list[str], end: int) -> int:
        given.append(self._kept[:end])
        self.length += end
        return end
