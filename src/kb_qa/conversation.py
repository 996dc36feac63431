"""A session's question → the question that is answered; afterwards, what was asked is remembered, never the answer."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_qa.answers import SESSION_ID, Filters, Question, Turn
from kb_qa.errors import InputError, KbQaError, ModelError
from kb_qa.follow_ups.acceptance import objection
from kb_qa.follow_ups.carrying import FollowUp
from kb_qa.follow_ups.standalone import follow_up, says_a_word
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.questions import anchors
from kb_qa.protocols import QuestionRewriter, Sessions
from kb_qa.transcript import Transcript

log = logging.getLogger(__name__)

TURNS = 6  # of the last ones, that a question may take up
REWRITE_SECONDS = 8.0  # what a model has before the rules are taken

_NAMES_A_FILE = re.compile(r"(?ai)\w\.(?:[a-z]{2,4}|xhtml|html)\b|《")


@dataclass(slots=True)
class Conversation:
    """One question's place in its session. Without a session nothing is carried over and nothing remembered."""

    library: Sessions
    session_id: str
    rewriter: QuestionRewriter | None = None
    seconds: float = REWRITE_SECONDS
    remembered: bool = False

    async def resolve(self, question: Question) -> Question:
        """The question in words that need no earlier one, with the documents that the earlier one was limited to.

        Raises InputError for an id that no session can have.
        """
        if not self.session_id:
            return question
        if not re.fullmatch(SESSION_ID, self.session_id):
            wrong, self.session_id = self.session_id, ""
            raise InputError(f"{wrong!r:.80} is no session id: letters, digits, '.', '_' and '-', 64 at most")
        turns = await asyncio.to_thread(self.library.turns, self.session_id, TURNS)
        if not turns:
            return question
        found = await self._rewritten(turns, question.text)
        if found.text != question.text:
            language = question.language if says_a_word(question.text) else language_of(found.text)
            before = _named_before(found.text, question.text, turns)
            question = replace(question, text=found.text, asked=question.text, language=language, named_before=before)
        return _limited(question, turns[-1].filters) if found.continues else question

    async def remember(self, transcript: Transcript) -> None:
        """Keeps the turn, once. A session that cannot be written is no reason to lose an answer."""
        if not self.session_id or self.remembered or not transcript.events:
            return
        self.remembered = True
        question = transcript.question
        turn = Turn(
            ordinal=0,
            question=question.own_words,
            standalone=question.text,
            answer_id=transcript.answer_id,
            documents=transcript.cited_documents,
            filters=question.filters,
            time=time.time(),
        )
        try:
            await asyncio.to_thread(self.library.add_turn, self.session_id, turn)
        except KbQaError as error:
            log.warning("answer %s: its session could not be written: %s", transcript.answer_id, error)

    async def _rewritten(self, turns: Sequence[Turn], question: str) -> FollowUp:
        """The model's rewrite where there is one that says no more than was asked; else that of the rules."""
        by_rules = follow_up(question, [turn.standalone for turn in turns])
        if self.rewriter is None:
            return by_rules
        try:
            text = await asyncio.wait_for(self.rewriter.rewrite(turns, question), self.seconds)
        except TimeoutError:
            log.warning("the rewrite of a follow-up question took over %g s; the rules are used", self.seconds)
            return by_rules
        except ModelError as error:
            log.warning("the rewrite of a follow-up question failed; the rules are used: %s", error)
            return by_rules
        text = text.strip()
        if text == question:
            return FollowUp(question, by_rules.continues)
        asked = [words for turn in turns for words in (turn.question, turn.standalone)]
        if objection(text, question, asked):
            log.warning("the rewrite of a follow-up question says more than was asked; the rules are used")
            return by_rules
        return FollowUp(text, continues=True)


def _named_before(text: str, asked: str, turns: Sequence[Turn]) -> frozenset[tuple[str, str]]:
    """Each carried name with the documents that the last answer about it cites.

    A report says whose it is on its first page, and the reader was given its figures for that name's: the next figures
    of the same report are not refused because their own pages do not repeat it.
    """
    pairs: set[tuple[str, str]] = set()
    for anchor in anchors(text):
        if anchor.kind != "name" or anchor.is_named_by(asked):
            continue
        answered = (turn for turn in reversed(turns) if turn.documents and anchor.is_named_by(turn.standalone))
        last = next(answered, None)
        pairs |= {(anchor.text, document) for document in (last.documents if last else ())}
    return frozenset(pairs)


def _limited(question: Question, earlier: Filters) -> Question:
    """What the earlier question was limited to, where this one leaves it open.

    Where it names documents, by a filter or in its words, the earlier ones' folder, pages and dates are not carried.
    """
    own = question.filters
    filters = replace(own, element_types=own.element_types or earlier.element_types)
    if own.choose_documents or _NAMES_A_FILE.search(question.own_words):
        return replace(question, filters=filters, carried_filters=filters != own)
    documents = {name: getattr(earlier, name) for name in ("documents", "folder", "since", "until")}
    filters = replace(filters, **documents, pages=own.pages or earlier.pages)
    return replace(question, filters=filters, carried_filters=filters != own)
