"""Public fakes: what the stages ask of the outside, in memory, and a Messages API that says what it is told to."""

from kb_qa.testing.fakes import (
    HashEmbedder,
    InMemoryJobs,
    InMemoryLibrary,
    InMemorySpending,
    InMemoryVectorStore,
    ScriptedModel,
    ScriptedRewriter,
)
from kb_qa.testing.messages_api import ScriptedMessagesAPI, SentRequest, scripted_messages_api
from kb_qa.testing.obedient import obedient
from kb_qa.testing.prompt_cache import PromptCache
from kb_qa.testing.replies import (
    HttpFault,
    Reply,
    Text,
    Thinking,
    block_location,
    char_location,
    page_location,
    said,
    search_location,
)

__all__ = [
    "HashEmbedder",
    "HttpFault",
    "InMemoryJobs",
    "InMemoryLibrary",
    "InMemorySpending",
    "InMemoryVectorStore",
    "PromptCache",
    "Reply",
    "ScriptedMessagesAPI",
    "ScriptedModel",
    "ScriptedRewriter",
    "SentRequest",
    "Text",
    "Thinking",
    "block_location",
    "char_location",
    "obedient",
    "page_location",
    "said",
    "scripted_messages_api",
    "search_location",
]
