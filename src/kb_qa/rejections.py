"""Why a file was not taken, in the language of the reader.

Stored is the English sentence and the error's code; a sentence that is not known here is shown in Chinese by its code,
with the English one behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from kb_qa.answers import Language
from kb_qa.quality_reasons import reason_in

BY_CODE: Mapping[str, str] = {
    "rejected_file": "该文件无法读取",
    "empty_file": "文件为空，或没有可读取的内容",
    "damaged_file": "文件已损坏，请获取完整的副本",
    "password_required": "文件已加密，请提供不带密码的副本",
    "misnamed_file": "文件内容与其扩展名不符",
    "unsupported_file": "不支持此类文件",
    "limit_exceeded": "文件超出处理上限",
    "parser_crashed": "解析程序在该文件上异常终止",
}

# What a reader can do about it, by the error's code: English and Chinese.
_ADVICE: Mapping[str, tuple[str, str]] = {
    "rejected_file": (
        "Open the file in the program it comes from, save it again (or print it to PDF), and upload that copy.",
        "请用创建该文件的程序打开并重新保存（或另存为 PDF），再上传新的副本。",
    ),
    "empty_file": (
        "Check that the file opens and has text on its pages; if it was still being copied, upload it again.",
        "请确认文件能够打开且页面上有文字；如上传时文件尚未复制完成，请重新上传。",
    ),
    "damaged_file": (
        "Get a complete copy from where the file came from, or open it, save it under a new name, and upload that.",
        "请从来源处重新获取完整的文件，或打开后另存一份再上传。",
    ),
    "password_required": (
        "Open it with its password, save a copy without one (or print it to PDF), and upload the copy.",
        "请用密码打开，另存一份不带密码的副本（或打印为 PDF），再上传该副本。",
    ),
    "misnamed_file": (
        "Give the file the extension of what it really is, or export it as PDF, and upload it again.",
        "请将扩展名改为与内容相符的类型，或导出为 PDF，再重新上传。",
    ),
    "unsupported_file": (
        "Save it as PDF, .docx, .xlsx, .pptx, .html, .md or .txt, and upload that; unpack an archive first.",
        "请另存为 PDF、.docx、.xlsx、.pptx、.html、.md 或 .txt 后上传；压缩包请先解压。",
    ),
    "limit_exceeded": (
        "Split the file into smaller parts and upload those, or ask whoever runs this service to raise the limit.",
        "请将文件拆分成较小的部分再上传，或请服务管理员提高上限。",
    ),
    "parser_crashed": (
        "Try it once more; if it fails again, print the file to PDF from the program it opens in, and upload that.",
        "请再试一次；如仍然失败，请在能打开它的程序中打印为 PDF 后上传。",
    ),
}

_N = r"""('.*?'|".*?")"""  # a file's name, as `repr` writes it
_WORDINGS = (
    (rf"{_N} is empty: it has no bytes", r"\1 为空文件（0 字节）"),
    (rf"{_N} has no bytes; upload the file again", r"\1 为空文件（0 字节），请重新上传"),
    (rf"{_N} has no pages", r"\1 没有页面"),
    (rf"{_N} has no content: every page is blank", r"\1 没有内容：所有页面均为空白"),
    (rf"{_N} holds no text that can be read", r"\1 中没有可识读的文字"),
    (r"the document has no text", r"文档没有文字"),
    (
        rf"{_N} is damaged beyond repair; get a complete copy of the file",
        r"\1 已损坏且无法修复，请获取该文件的完整副本",
    ),
    (
        rf"{_N} is damaged: nothing is left on its pages; get a complete copy",
        r"\1 已损坏：页面上没有留下任何内容，请获取完整的副本",
    ),
    (
        rf"{_N} is damaged: its pages cannot be counted; get a complete copy",
        r"\1 已损坏：无法统计页数，请获取完整的副本",
    ),
    (
        rf"(?:{_N} is damaged|the file is damaged): its ZIP directory cannot be read; get a complete copy",
        r"文件已损坏：无法读取其 ZIP 目录，请获取完整的副本",
    ),
    (rf"{_N} is damaged: its OLE directory cannot be read", r"\1 已损坏：无法读取其 OLE 目录"),
    (r"the file is damaged: (.+)", r"文件已损坏（\1）"),
    (r"the text is in no known encoding; save it as UTF-8", "文本编码无法识别，请另存为 UTF-8"),
    (r"the book names no package document; get a complete copy", "电子书缺少包文档，请获取完整的副本"),
    (
        rf"LibreOffice makes no pages of {_N}; open it there and save it again",
        r"LibreOffice 无法打印 \1，请在其中打开并重新保存",
    ),
    (
        rf"{_N} is encrypted; (?:remove the password and try again|save a copy without its password and add that)",
        r"\1 已加密，请另存一份不带密码的副本后再添加",
    ),
    (r"the book is protected by DRM; provide a copy without it", "电子书受 DRM 保护，请提供无保护的副本"),
    (
        rf"{_N} is not a PDF file, whatever its name says(?:; give it its right extension)?",
        r"\1 并不是 PDF 文件，请更正其扩展名",
    ),
    (rf"{_N} is not a picture, whatever its name says", r"\1 并不是图片文件，请更正其扩展名"),
    (
        rf"{_N} is an? (\S+) picture; PNG, JPEG, TIFF, WebP and BMP can be read",
        r"\1 是 \2 图片；可读取 PNG、JPEG、TIFF、WebP 和 BMP",
    ),
    (rf"{_N} is named (\S*) but holds (.+)", r"\1 的扩展名为 \2，内容却是：\3"),
    (
        rf"{_N} cannot be read: (.+) is no known kind of document; known are (.+)",
        r"\1 无法读取：\2 不是支持的文档类型；支持 \3",
    ),
    (rf"{_N} is no known kind of document; known are (.+)", r"\1 不是支持的文档类型；支持 \2"),
    (
        rf"{_N} is an OpenDocument file; save it as \.docx, \.xlsx or \.pptx,"
        r" or set KB_QA_RENDER_OFFICE=1 where LibreOffice is installed",
        r"\1 是 OpenDocument 文件，请另存为 .docx、.xlsx 或 .pptx，或在装有 LibreOffice 处设 KB_QA_RENDER_OFFICE=1",
    ),
    (rf"{_N} has tracked changes; accept or reject them and save it again", r"\1 含有修订记录，请接受或拒绝后重新保存"),
    (rf"{_N} is (.+)", r"\1 不受支持，内容是：\2"),
    (rf"{_N} has too many pixels; the limit is ([\d,]+) million", r"\1 像素过多，上限为 \2 百万"),
    (
        rf"{_N} has ([\d× ]+) pixels; the limit is (\d+) million \((.+)\)",
        r"\1 有 \2 像素，上限为 \3 百万（\4）",
    ),
    (rf"{_N} has ([\d,]+) MB; the limit is (\d+) MB \((\w+)\)", r"\1 有 \2 MB，上限为 \3 MB（\4）"),
    (rf"{_N} has (\d+) pages; the limit is (\d+) \((\w+)\)", r"\1 有 \2 页，上限为 \3 页（\4）"),
    (r"(\d+) slides; the limit is (\d+) \((\w+)\)", r"共 \1 张幻灯片，上限为 \2 张（\3）"),
    (
        r"the archive inflates to ([\d,]+) MB; the limit is (\d+) MB \((\w+)\)",
        r"压缩包解压后有 \1 MB，上限为 \2 MB（\3）",
    ),
    (rf"{_N} inflates to more than (\d+) MB; the limit is (\w+)", r"\1 解压后超过 \2 MB（上限由 \3 设定）"),
    (r"the archive has ([\d,]+) entries; the limit is ([\d,]+)", r"压缩包有 \1 个条目，上限为 \2 个"),
    (r"(?:a|the) table has more than ([\d,]+) cells; split the file", r"表格超过 \1 个单元格，请拆分文件"),
    (
        r"the page nests its elements more than ([\d,]+) deep; save it as text or PDF",
        r"网页元素嵌套超过 \1 层，请另存为文本或 PDF",
    ),
    (rf"{_N} took longer than (\d+) s \((\w+)\)", r"\1 的处理时间超过 \2 秒（\3）"),
    (rf"a page of {_N} took too long \((\w+)\)", r"\1 的一页处理时间过长（\2）"),
    (rf"LibreOffice took longer than (\d+) s for {_N} \((\w+)\)", r"LibreOffice 处理 \2 超过 \1 秒（\3）"),
    (rf"{_N} needs more than (\d+) MB of memory", r"\1 需要超过 \2 MB 内存"),
    (rf"ingest ended (\d+) times while it was at work on {_N}", r"在处理 \2 时，入库程序终止了 \1 次"),
    (rf"{_N} crashed its parser (\d+) times \((.+)\)", r"解析程序在 \1 上崩溃了 \2 次（\3）"),
    (rf"parsing {_N} failed: (.+)", r"解析 \1 失败（\2）"),
    (rf"the parser failed on {_N}: (.+)", r"解析程序在 \1 上出错（\2）"),
    (rf"the parser of {_N} returned nonsense: (.+)", r"解析程序对 \1 返回了无效结果（\2）"),
)
CHINESE = tuple((re.compile(pattern, re.DOTALL), wording) for pattern, wording in _WORDINGS)

_PLACE = re.compile(r"\\(\d)")

# What a file holds, and what is passed over in a folder.
_PHRASES: Mapping[str, str] = {
    "unchanged": "未变化",
    "hidden": "隐藏文件",
    "a symbolic link": "符号链接",
    "an Office lock file": "Office 锁定文件",
    "an unfinished copy": "未完成的副本",
    "still being written": "仍在写入",
    "ignored by .kbqaignore": "已由 .kbqaignore 忽略",
    "no file of this name stands there any more": "该处已没有此名称的文件",
    "a file of the operating system": "操作系统文件",
    "a named pipe, not a file": "命名管道，不是文件",
    "a socket, not a file": "套接字，不是文件",
    "a device, not a file": "设备，不是文件",
    "a PDF": "PDF",
    "a PNG image": "PNG 图片",
    "a JPEG image": "JPEG 图片",
    "a TIFF image": "TIFF 图片",
    "a BMP image": "BMP 图片",
    "a WebP image": "WebP 图片",
    "an EPUB": "EPUB 电子书",
    "a Word document": "Word 文档",
    "a PowerPoint presentation": "PowerPoint 演示文稿",
    "an Excel workbook": "Excel 工作簿",
    "an OpenDocument file": "OpenDocument 文件",
    "a ZIP archive; unpack it first": "ZIP 压缩包，请先解压",
    "an RTF file; save it as .docx": "RTF 文件，请另存为 .docx",
    "a Word 97–2003 file (.doc); save it as .docx": "Word 97–2003 文件（.doc），请另存为 .docx",
    "an Excel 97–2003 file (.xls); save it as .xlsx": "Excel 97–2003 文件（.xls），请另存为 .xlsx",
    "a PowerPoint 97–2003 file (.ppt); save it as .pptx": "PowerPoint 97–2003 文件（.ppt），请另存为 .pptx",
    "an Outlook message (.msg); save it as .eml": "Outlook 邮件（.msg），请另存为 .eml",
    "an OLE file of an unknown program": "未知程序的 OLE 文件",
    "unknown binary data": "未知的二进制数据",
    "plain text": "纯文本",
    "a file without a suffix": "没有扩展名的文件",
}
_PASSED_OVER = (
    (re.compile(r"the same file as ('.*'|\".*\")", re.DOTALL), r"与 \1 是同一文件"),
    (re.compile(r"deeper than (\d+) folders"), r"超过 \1 层文件夹"),
    (
        re.compile(r"its content stays under the name ('.*'|\".*\")", re.DOTALL),
        r"内容仍以名称 \1 保留",
    ),
    (
        re.compile(
            r"nothing is removed: all (\d+) files that stood there are gone; if that is meant, use --allow-empty"
        ),
        r"未删除任何文档：原有的 \1 个文件全部消失；如属实，请使用 --allow-empty",
    ),
    (
        re.compile(r"nothing is removed, though (\d+) files are not seen: ('.*'|\".*\") cannot be read", re.DOTALL),
        r"未删除任何文档（有 \1 个文件未见）：无法读取 \2",
    ),
    (
        re.compile(r"nothing is removed: the folder cannot be opened: (.+)"),
        r"未删除任何文档：无法打开文件夹：\1",
    ),
    (re.compile(r"cannot be opened: (.+)"), r"无法打开：\1"),
    (re.compile(r"the folder cannot be opened: (.+)"), r"无法打开文件夹：\1"),
    (re.compile(r"the file is gone or closed: (.+)"), r"文件已不存在或无权打开：\1"),
)


def rejection_in(language: str, code: str, reason: str) -> str:
    """Why a file is quarantined or was skipped: in Chinese for "zh", else as it is stored. "" stays ""."""
    if language != "zh" or not reason:
        return reason
    if reason in _PHRASES:
        return _PHRASES[reason]
    for pattern, wording in (*CHINESE, *_PASSED_OVER):
        if match := pattern.fullmatch(reason):
            return _PLACE.sub(partial(_group, match), wording)
    if code in BY_CODE:
        return f"{BY_CODE[code]}（{reason}）"
    return reason_in(language, reason)


def advice_in(language: str, code: str) -> str:
    """What a reader can do about a file that was rejected with this code; "" for what is no rejection."""
    english, chinese = _ADVICE.get(code, ("", ""))
    return chinese if language == "zh" else english


def _group(match: re.Match[str], place: re.Match[str]) -> str:
    words: str = match[int(place[1])] or ""
    return _PHRASES.get(words, words)


def language_of(environment: Mapping[str, str]) -> Language:
    """The language of a terminal, by its locale."""
    names = (environment.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    chosen = next((name for name in names if name), "")
    return "zh" if chosen.lower().startswith("zh") else "en"
