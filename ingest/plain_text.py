"""Plain text: decoding, and paragraphs, list items and headings.

Not read through unstructured's partition_text: it takes every short Chinese sentence for a Title and drops the dash of
a line that begins with one (`- 7` becomes `7`), which changes figures.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from ingest.passages import Passage, prose
from kb_qa.errors import DamagedFileError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What East Asian files are written in; GB18030 decodes nearly anything, so the result is judged, not the decoding.
_EAST_ASIAN = ("gb18030", "big5hkscs", "shift_jis", "euc_jp")

_LIST_ITEM = re.compile(
    r"\s*(?:[-*+•·●○▪■□◆‣⁃–—]\s+|\(?\d{1,3}[.)、]\s*(?!\d)|[（(][一二三四五六七八九十\d]{1,3}[）)]|[a-zA-Z][.)]\s+)\S"
)
_CHAPTER = re.compile(r"第\s*[一二三四五六七八九十百零〇\d]+\s*([部编篇章节])")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?\s+\D|[一二三四五六七八九十]+、")
_ENDS_SENTENCE = re.compile(r"[.!?…。！？；;:：,，、]$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef\u3000-\u303f]")
_CHAPTER_DEPTH = {"部": 0, "编": 0, "篇": 0, "章": 0, "节": 1}
_SYMBOL_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶-¹»-¿×÷†‡‰][^\W\d_]")
_SENTENCE_BREAK = re.compile(r"[.!?…]\s+|[。！？；]")
_IN_FIGURE = re.compile(r"[\d.,][\d.,]")
_LONGEST = 4000  # characters of a passage
_NEARLY_ALL = 0.97
_CHINESE = 0.7  # plausibility of real text; of other bytes read as UTF-16 it is far lower
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_ACCENTED = 0.3
_WRAPPED_SHARE = 0.7  # a line at least this long, beside the longest of its paragraph, was broken to fit


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text of `data`, and the encoding where it had to be guessed ("" where it is certain)."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace"), ""
    for encoding in (declared, "utf-8"):
        if encoding and (text := _decoded(data, encoding)) is not None and "\x00" not in text:
            return text, ""
    if wide := _wide(data):
        return data.decode(wide, "replace"), wide
    return _guessed(data)


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: zeros, or the high bytes of CJK, stand in every second place."""
    sample = data[:4096]
    if len(sample) % 2:
        sample = sample[:-1]
    if 0 not in sample:
        return wide_encoding(sample)
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return "utf-16-le" if odd > even else "utf-16-be"


def wide_encoding(sample: bytes) -> str:
    """`utf-16-le` or `utf-16-be` for bytes that are such text without zeros: Chinese throughout; "" for others.

    Asked only where a control character stands in the bytes, which no other encoding has.
    """
    if not _CONTROL.search(sample):
        return ""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = sample[: len(sample) // 2 * 2].decode(encoding, "ignore")
        plain = sum(char in "\r\n\t" or (char.isprintable() and ord(char) < 128) for char in text)
        rest = [char for char in text if ord(char) > 127]
        korean = any("\uac00" <= char <= "\ud7af" for char in rest)  # what GB 18030 looks like; Korean has blanks
        if rest and not korean and plain + len(rest) > _NEARLY_ALL * len(text) and _plausibility(text) > _CHINESE:
            return encoding
    return ""


def _guessed(data: bytes) -> tuple[str, str]:
    if (korean := _decoded(data, "cp949")) is not None and _hangul_share(korean) > _NEARLY_ALL:
        return korean, "cp949"
    texts = {name: text for name in _EAST_ASIAN if (text := _decoded(data, name)) is not None}
    best = max(texts, key=lambda name: _plausibility(texts[name]), default="")
    if best and _plausibility(texts[best]) > 0.5:
        return texts[best], best
    if (western := _decoded(data, "cp1252")) is not None and _is_western(western):
        return western, "cp1252"
    from charset_normalizer import from_bytes

    match = from_bytes(data).best()
    if match is None:
        raise DamagedFileError("the text is in no known encoding; save it as UTF-8")
    return str(match), match.encoding


def _hangul_share(text: str) -> float:
    """Of the non-ASCII letters. Chinese in the wrong encoding yields hangul too, but never only hangul."""
    letters = [char for char in text[:20000] if ord(char) > 127 and char.isalpha()]
    return sum("\uac00" <= char <= "\ud7af" for char in letters) / len(letters) if len(letters) > 4 else 0.0


def _is_western(text: str) -> bool:
    """Whether accented letters are few, and no symbol stands inside a word, as they do in text of another code page."""
    letters = [char for char in text[:20000] if char.isalpha()]
    accented = sum(ord(char) > 127 for char in letters)
    return accented <= _MOST_ACCENTED * len(letters) and not _SYMBOL_IN_WORD.search(text)


def _plausibility(text: str) -> float:
    """How much of the non-ASCII text is what such texts are made of, -1..1: common characters against rare ones.

    GB 2312's 6,763 characters, Big5's first level and kana and hangul are common; what a wrong decoding yields is
    mostly rare ideographs, private-use characters and half-width kana.
    """
    beyond = [char for char in text[:20000] if ord(char) > 127]
    if not beyond:
        return 0.0
    return sum(_commonness(char) for char in beyond) / len(beyond)


def _commonness(char: str) -> float:
    code = ord(char)
    if 0x3040 <= code <= 0x30FF or 0xAC00 <= code <= 0xD7AF or 0x3000 <= code <= 0x301F or 0xFF01 <= code <= 0xFF5E:
        return 1.0
    if 0x4E00 <= code <= 0x9FFF:
        return 1.0 if _is_first_level(char) else -0.5
    return 0.5 if 0x2010 <= code <= 0x203B else -1.0


def _is_first_level(char: str) -> bool:
    """Whether the character is among the everyday ones of GB 2312 or Big5: their first planes are ordered by use."""
    for encoding, last in (("gb2312", 0xD7), ("big5", 0xC6), ("shift_jis", 0x97)):
        encoded = char.encode(encoding, "ignore")
        if len(encoded) == 2 and encoded[0] <= last:
            return True
    return False


def text_passages(text: str) -> Iterator[Passage]:
    """Paragraphs between blank lines. Wrapped lines are joined; other lines are paragraphs of their own."""
    paragraphs = re.split(r"\n[ \t\u3000]*\n", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n"))
    filled = [[line for line in paragraph.split("\n") if line.strip()] for paragraph in paragraphs]
    filled = [lines for lines in filled if lines]
    for index, lines in enumerate(filled):
        depth = _heading_depth(lines[0].strip()) if len(lines) == 1 and index + 1 < len(filled) else None
        if depth is not None:
            yield Passage("Title", lines[0].strip(), depth=depth)
        else:
            yield from _paragraph_passages(lines)


def _heading_depth(line: str) -> int | None:
    """The depth of a line that stands alone, where it reads as a heading: short, and not ended as a sentence is."""
    if len(line) > (40 if _CJK.search(line) else 80) or _ENDS_SENTENCE.search(line) or not re.search(r"[^\W\d_]", line):
        return None
    if chapter := _CHAPTER.match(line):
        return _CHAPTER_DEPTH[chapter.group(1)]
    if numbered := _NUMBERED.match(line):
        return (numbered.group(1) or "").count(".")
    return None if _LIST_ITEM.match(line) or re.search(r"\d", line) else 0


def _paragraph_passages(lines: list[str]) -> Iterator[Passage]:
    longest = max(map(len, lines))
    pending = ""
    for index, line in enumerate(lines):
        pending = _joined(pending, line.strip()) if pending else line.strip()
        last = index + 1 == len(lines)
        if last or _LIST_ITEM.match(lines[index + 1]) or not _is_wrapped(line, longest):
            for piece in _cut(pending):
                yield Passage("ListItem", piece) if _LIST_ITEM.match(piece) else prose(piece)
            pending = ""


def _cut(text: str) -> Iterator[str]:
    """Pieces that a reader can take in: a log or a dump may be one line of megabytes. Cut at a sentence or a blank."""
    while len(text) > _LONGEST:
        ends = [match.end() for match in _SENTENCE_BREAK.finditer(text, _LONGEST // 2, _LONGEST)]
        at = ends[-1] if ends else text.rfind(" ", _LONGEST // 2, _LONGEST) + 1 or _LONGEST
        while at > _LONGEST // 2 and _IN_FIGURE.match(text, at - 1):
            at -= 1
        yield text[:at].strip()
        text = text[at:]
    if text.strip():
        yield text.strip()


def _is_wrapped(line: str, longest: int) -> bool:
    wide = 20 if _CJK.search(line) else 40
    return len(line) >= _WRAPPED_SHARE * longest and len(line) >= wide and not re.search(r"[。！？]$", line.rstrip())


def _joined(left: str, right: str) -> str:
    """Two lines as one: no space between Chinese characters."""
    return left + right if _CJK.match(left[-1:]) and _CJK.match(right[:1]) else f"{left} {right}"
