"""What a question says of the form of its answer and of the documents at large: no passage is found by such words."""

from __future__ import annotations

import re

# How to answer, and what to say where nothing is found.
_IF_NOTHING = re.compile(
    r"(?ai)[^.?!。？！]*\bif\b[^.?!。？！]*\b(?:return|answer|respond|reply|say|write)\b[^.?!。？！]*[.?!。？！]?"
    r"|如果?[^。？！]*(?:返回|回答|回复|请答)[^。？！]*[。？！]?"
)
# After the question itself: before it, `List …` is the question.
_HOW = re.compile(
    r"(?ai)(?<=[?？])\s*(?:please |kindly )?(?:give|provide|list|state|return|answer|respond|reply)\b[^.?!]*[.?!]?"
    r"|(?<=[?？])\s*请(?:给出|列出|返回|提供|用)[^。？！]*[。？！]?"
)
# Where and of when, in words that every report has.
FRAME = re.compile(
    r"(?ai)[(（]\s*(?:within|during|as (?:of|at)|at|for)\b[^)）]*\bperiod\b[^)）]*[)）]"
    r"|\b(?:at|by|as of|as at) the end of the (?:last |reporting )?(?:period|year)(?: listed)?"
    r"(?: in (?:the )?annual report)?"
    r"|\b(?:according to|(?:as )?(?:mentioned|stated|reported|disclosed|listed) in|based on|in|from)"
    r" (?:the |its |this )?(?:(?:annual|quarterly|latest) )?report\b,?"
    r"|\b(?:according to|(?:as )?(?:mentioned|stated|listed) in|based on|in) the"
    r" (?:documents?|materials?|text|passage|context)\b,?"
    r"|\b(?:in|during|within|for|over) the (?:last |reporting |current )?(?:fiscal )?(?:reporting )?period\b"
    r"|\bwhat (?:is|was|are|were) the value of\b|\b(?:at )?(?:year[- ]end|end[- ]of[- ]year)\b"
    r"|(?:根据|按照|依据)(?:年报|年度报告|文档|材料|文件|资料|报告|上述|以上)[^，,。]{0,6}[，,]?|(?:在)?报告期(?:内|末)?"
)
# How Chinese asks, and compares with the year before: cut out before words are told apart (`额是`, `额比` are none).
ASKING_ZH = re.compile(
    "需要多长时间|多长时间|多少时间|什么时间|需要多久|多久"
    "|(?:分别|一共|总共|大约)?(?:是|为|(?<![持拥享含具没所])有|占|达到?)?多少(?:钱|人|名|个|家|次)?|[比较同](?=上年|上一年|去年|上期|上月|前一年)"
)
CURRENCY = re.compile(
    r"\b(?:in|into) (USD|AUD|CAD|EUR|GBP|CNY|RMB|HKD|JPY|CHF|SGD|INR|KRW|TWD|NZD"
    r"|(?:(?:US|U\.S\.|Australian|Canadian|Hong Kong) )?dollars|euros?|pounds sterling|yuan|yen)\b"
    r"|多少(美元|港元|港币|欧元|英镑|日元|澳元|加元)"
)
_IN_CURRENCY = re.compile(rf"[(（]\s*(?:{CURRENCY.pattern})\s*[)）]")


def without_instructions(question: str) -> str:
    """The question alone, or all of it where nothing else is there."""
    said = _HOW.sub(" ", _IF_NOTHING.sub(" ", question)).strip()
    return said or question


def matter_of(question: str) -> str:
    """What is asked about: without instructions, frames, and the currency in brackets that the answer is wanted in."""
    said = _IN_CURRENCY.sub(" ", FRAME.sub(" ", without_instructions(question)))
    return " ".join(said.split()) if any(map(str.isalnum, said)) else question
