"""The reasons of a page's quality grade, and a document's flags, in the language of the reader.

They are stored in English, as the parser gave them; a reason that is not known here is shown as it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_CHINESE = (
    (r"read by OCR, confidence ([\d.]+)", r"由 OCR 识读，置信度 \1"),
    (r"the characters of the text layer cannot be read", "文本层的字符无法识读"),
    (r"the text layer was made by OCR; it could not be checked", "文本层由 OCR 生成，未能核对"),
    (
        r"the text layer was made by OCR; a sample of it agrees with ours to ([\d.]+%)",
        r"文本层由 OCR 生成，抽样与本系统识读结果的一致度为 \1",
    ),
    (r"([\d.]+%) of the characters have no readable form", r"\1 的字符没有可读的形式"),
    (
        r"text inside some pictures was not read: there are too many or they are too large",
        "部分图片过多或过大，其中的文字未识读",
    ),
    (
        r"the rows and columns of a table are not sure \(confidence ([\d.]+)\)",
        r"一个表格的行列划分不确定（置信度 \1）",
    ),
    (r"read without layout and tables(?:: the parser failed on it)?", "未作版面与表格分析，仅读取文本层"),
    (r"tables could not be looked for", "未能查找表格"),
    (r"parts of the page are damaged and may be missing", "页面部分内容已损坏，可能有缺失"),
    (r"unreadable: its content is damaged", "无法读取：内容已损坏"),
    (
        r"unreadable: its content is damaged or of a kind that cannot be drawn",
        "无法读取：内容已损坏，或属于无法绘制的类型",
    ),
    (r"unreadable: it needs more memory than there is", "无法读取：所需内存超过可用内存"),
    (r"unreadable: it took too long \((\w+)\)", r"无法读取：处理时间过长（\1）"),
    (r"unreadable: it crashed its parser", "无法读取：解析程序在此页崩溃"),
    # of a whole document
    (r"repaired", "文件有损坏，已修复后读取"),
    (r"pages printed by LibreOffice", "页面由 LibreOffice 打印"),
    (r"read without pages: (.+)", r"未能生成页面，仅按内容读取（\1）"),
    (r"(\d+) pictures not read", r"\1 张图片未识读"),
    (r"hidden text left out", "已略去隐藏文字"),
    (r"text hidden by style left out", "已略去以样式隐藏的文字"),
    (r"sheet (.+): (\d+) cells in hidden rows or columns left out", r"工作表 \1：已略去隐藏行列中的 \2 个单元格"),
    (
        r"(\d+) formulas have no stored value; open and save the file in a spreadsheet",
        r"\1 个公式没有保存的值，请在电子表格软件中打开并保存该文件",
    ),
    (r"chapter (.+) is missing", r"缺少章节 \1"),
    (r"(\d+) attachments not read: (.+)", r"\1 个附件未读取：\2"),
    (r"(\d+) pictures described by (.+)", r"\1 张图片由模型 \2 描述"),
    (r"(\d+) pictures without a description: the budget is spent", r"\1 张图片没有描述：预算已用完"),
    (
        r"(\d+) pictures without a description: there is no key that the model's host accepts",
        r"\1 张图片没有描述：没有模型服务接受的密钥",
    ),
    (
        r"(\d+) pictures without a description: the model's host takes no more requests for now",
        r"\1 张图片没有描述：模型服务请求过多",
    ),
    (r"(\d+) pictures without a description: the model is overloaded", r"\1 张图片没有描述：模型过载"),
    (
        r"(\d+) pictures without a description: the model's host cannot be reached",
        r"\1 张图片没有描述：无法连接模型服务",
    ),
    (r"(\d+) pictures without a description: the model did not answer in time", r"\1 张图片没有描述：模型未及时回应"),
    (
        r"(\d+) pictures without a description: the model's host rejected the request",
        r"\1 张图片没有描述：模型服务拒绝了请求",
    ),
    (r"(\d+) pictures without a description: the model failed", r"\1 张图片没有描述：模型出错"),
    (r"(\d+) pictures without a description: the model wrote none", r"\1 张图片没有描述：模型未给出内容"),
    (r"(\d+) pictures without a description: they cannot be drawn", r"\1 张图片没有描述：无法绘制"),
    (r"(\d+) pictures without a description: they are too large", r"\1 张图片没有描述：图片过大"),
    (
        r"(\d+) pictures without a description: there are more than are described of one document (\(\w+\))",
        r"\1 张图片没有描述：超出单个文档的描述数量上限\2",
    ),
    (r"encoding guessed: (.+)", r"文字编码为推测：\1"),
)
CHINESE = tuple((re.compile(pattern), wording) for pattern, wording in _CHINESE)


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def summed_reasons(language: str, reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    """Reasons with the pages that have each, those that differ in their figures alone told once, as from–to."""
    alike: dict[str, list[tuple[str, int]]] = {}
    for reason, pages in reasons.items():
        told = reason_in(language, reason)
        alike.setdefault(_NUMBER.sub("#", told), []).append((told, pages))
    summed = [(_spanned([told for told, _ in each]), sum(pages for _, pages in each)) for each in alike.values()]
    return sorted(summed, key=lambda each: -each[1])


def _spanned(told: Sequence[str]) -> str:
    """One sentence of several that are alike but for their figures."""
    columns = [sorted(column, key=float) for column in zip(*map(_NUMBER.findall, told), strict=True)]
    spans = iter([each[0] if each[0] == each[-1] else f"{each[0]}–{each[-1]}" for each in columns])
    return _NUMBER.sub(lambda _: next(spans), told[0])


_OF_A_PAGE = re.compile(r"page (\d+):? (.+)")


def reason_in(language: str, reason: str) -> str:
    """The reason in Chinese for "zh", else as it is stored. One that names its page, as a document's flags do, too."""
    if language == "zh":
        if match := _OF_A_PAGE.fullmatch(reason):
            return f"第 {match[1]} 页：{reason_in(language, match[2])}"
        for pattern, wording in CHINESE:
            if match := pattern.fullmatch(reason):
                return match.expand(wording)
    return reason
