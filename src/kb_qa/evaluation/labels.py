"""What a reader is told that outcomes, stages and parts of a report are, in English and Chinese."""

from __future__ import annotations

from kb_qa.answers import Language

_OUTCOMES = {
    "page_hit": ("page among the first {k}", "前{k}页中有正确页"),
    "document_hit": ("document among the first {k}", "前{k}个文档中有正确文档"),
    "pages_cited": ("the answer cites the page", "回答引用了正确页"),
    "region_hit": ("the answer cites the region", "回答引用了正确区域"),
    "answer_contained": ("the answer says it", "回答中有正确答案"),
    "figure_right": ("right figure, with its place", "数字正确且有出处"),
    "refused_absent": ("refused, not in the documents", "材料中没有，已拒答"),
    "refused_answerable": ("refused, though answerable ↓", "材料中有，却拒答 ↓"),
    "failed": ("failed ↓", "出错 ↓"),
}
_STAGES = {
    "retrieve": ("retrieve", "检索"),
    "context": ("context", "组织材料"),
    "answer": ("answer and check", "生成与核对"),
    "total": ("total", "总计"),
}
_WORDS = {
    "inside": (", in its document", "（文档内）"),
    "title": ("How well questions are answered", "问答评测报告"),
    "questions": ("questions", "个问题"),
    "measure": ("measure", "指标"),
    "interval": ("95 % interval", "95% 区间"),
    "n": ("n", "n"),
    "baseline": ("BM25 over pages", "整页 BM25"),
    "ours": ("kb-qa", "kb-qa"),
    "difference": ("difference", "差值"),
    "only": ("only first / only second", "仅前者 / 仅后者"),
    "rates": ("All measures", "全部指标"),
    "pages": ("Is the page found?", "是否找到正确页？"),
    "refusals": ("Is it refused when it should be?", "该拒答时是否拒答？"),
    "latency": ("How long does it take?", "用时多久？"),
    "stage": ("stage", "阶段"),
    "misses": ("What went wrong", "未达标的问题"),
    "no_misses": ("Nothing: every question has what was expected of it.", "没有：所有问题都符合预期。"),
    "all": ("Every question", "全部问题"),
    "expected": ("Expected", "预期"),
    "found": ("Found", "找到"),
    "cited": ("Cited", "引用"),
    "answer": ("Answer", "回答"),
    "refused": ("refused", "拒答"),
    "answered": ("answered", "作答"),
    "absent": ("not in the documents", "材料中没有"),
    "present": ("answerable", "材料中有"),
    "page": ("page {page}", "第{page}页"),
    "rank": ("rank {rank}", "第{rank}位"),
    "not_found": ("not found", "未找到"),
    "no_picture": ("no picture", "无图"),
    "seconds": ("seconds", "秒"),
    "median": ("median", "中位数"),
    "late": ("95th percentile", "第95百分位"),
    "compared": ("Side by side", "对比"),
    "changed": ("questions that differ", "结果不同的问题"),
    "knowledge base": ("knowledge base", "知识库"),
    "documents": ("documents", "文档"),
    "model": ("model", "模型"),
    "asked": ("asked", "提问方式"),
    "settings": ("settings", "设置"),
    "here": ("in this process", "本进程"),
    "service": ("of the service at {address}", "经由服务 {address}"),
    "within": ("of the named document alone", "仅限指定文档"),
    "everywhere": ("of all documents", "全部文档"),
    "baseline_note": (
        "Bars show the share of questions with an expected page among the first k distinct pages; lines are 95 % "
        "intervals (Wilson). BM25 ranks whole pages by their plain words, in the same run.",
        "柱形为前 k 个不同页面中含有预期页的问题比例；竖线为 95% 区间（Wilson）。"
        "BM25 在同一次运行中按整页的普通词语排序。",
    ),
    "small": (
        "With few questions the intervals are wide: a difference inside them says nothing.",
        "问题较少时区间较宽：落在区间内的差异没有意义。",
    ),
}


def word(name: str, language: Language, **values: object) -> str:
    english, chinese = _WORDS[name]
    return (chinese if language == "zh" else english).format(**values)


def stage_label(stage: str, language: Language) -> str:
    english, chinese = _STAGES[stage]
    return chinese if language == "zh" else english


def outcome_label(name: str, language: Language) -> str:
    """Of an outcome, whoever searched."""
    kind, _, rest = name.partition("@")
    number, _, searcher = rest.partition(".")
    english, chinese = _OUTCOMES[kind]
    label = (chinese if language == "zh" else english).format(k=number)
    return f"{label}{word('inside', language)}" if searcher.startswith("within") else label


def is_baseline(name: str) -> bool:
    return name.endswith(".bm25")
