"""How questions are worded, in English and Chinese: what says the kind of answer, and what is no part of the matter."""

from __future__ import annotations

import re

# Words of a question that say what is asked for, not what it is about (index terms).
ASKING = frozenset(
    "mani much percentag percent proport pleas tell give list show find name number amount accord mention state total"
    " return after befor dure within per each soon came come valu report period respect year quarter month announc"
    " outlin ani new compani far long old often fast big becaus make made say said"
    " 请问 告诉 介绍 说明 列出 根据 一下 数量 金额 分别 各 比例 百分比 多 大 是 有 钱 年 月 季度"
    " 多久 多长 最长 久 长 几天 天 时候 开始".split()
)
# Units, abbreviations, explanations: what a question puts in brackets may be said, and need not.
BRACKETED = re.compile(r"\([^)]{1,40}\)|（[^）]{1,40}）")
# What is no part of the matter: `over how many years`, `in the year ended March 31`.
LEAD = re.compile(
    r"(?ai)^\s*(?:over|by|in|for|at|to|from|within|after|on|under|up to) (?=(?:how|what|which)\b)"
    r"|\b(?:for|in|during|of) (?:the |its )?(?:(?:fiscal|financial) )?(?:year|quarter|period|months) (?:that )?"
    r"(?:ended|ending|ends)\b|\bwhat (?:share|proportion|fraction) of\b"
)
WANTS_DATE = re.compile(r"(?ai)\bwhen\b|\bwhat (?:date|day|year)\b|何时|什么时候|哪一?[天年]|日期|几[号月]")
WANTS_PERCENT = re.compile(
    r"(?ai)percent|%|\b(?:rate|ratio|share|margin|proportion|yield)\b|\breturn on\b|比例|占比|百分|率"
)
WANTS_FIGURE = re.compile(
    r"(?ai)\bhow (?:many|much|long|often|far|large|big|old)\b|\b(?:number|amount|total|value"
    r"|price|cost|salary|quantity|maximum|minimum|average|spending)\b|\bhow soon\b"
    r"|\bwhat (?:is|are|was|were)\b.*\b(?:revenues?|sales|income|profits?|expenses?|earnings|assets|liabilities"
    r"|debts?|equity|cash|dividends?|tax(?:es)?|limit|allowance|fee|budget|margins?|charges?|headcount|period"
    r"|deadline|expenditures?|costs|prices|salaries)\b"
    r"|\bwhat (?:was|were)\b.*\b(?:loans|deposits|borrowings|receivables|payables|inventor(?:y|ies)|investments"
    r"|commitments|obligations|charge-offs|recoveries|amorti[sz]ation|depreciation|impairments?)\b"
    r"|多少|几|多久|多长|多大|金额|总额|数量|上限|下限|标准|利润是|收入是"
)
# Money, and not what is counted in days, people or pieces: then the question itself says so.
WANTS_AMOUNT = re.compile(
    r"(?ai)\b(?:revenues?|sales|turnover|income|profits?|costs?|expenses?|assets|liabilities|debts?|equity|cash"
    r"|deposits|expenditures?|spending|earnings|prices?|fees?|salary|salaries)\b"
    r"|收入|利润|资产|负债|金额|费用|成本|价格|多少钱|存款|营收"
)
# What is owed as an amount or as a share of one.
AMOUNT_OR_SHARE = re.compile(
    r"(?ai)\b(?:fees?|commissions?|penalt(?:y|ies)|surcharges?|royalt(?:y|ies))\b|手续费|服务费|管理费|佣金|罚款"
)
COUNTS = re.compile(
    r"(?ai)\bhow (?:many|long|often|soon|old)\b|\bnumber of\b|多少[天日个人名家项次年月]|几|多久|多长|何时|什么时候"
)
NUMBER_OF = re.compile(r"(?ai)\bhow many\b|\bnumber of\b|\bcount\b|多少[个人名家项台辆间]|数量")
YES_NO = re.compile(
    r"(?ai)^\s*(?:(?:for|in|according)[^,]*,\s*)?"
    r"(?:did|does|do|is|are|was|were|has|have|had|can|could|will)\b|是否|有没有|吗[？?]?\s*$"
)
ONE_NAME = re.compile(r"(?ai)^\s*who (?:is|was)\b|是谁|谁是")
NAMES = re.compile(
    r"(?ai)^\s*(?:which|who|what are the (?:names|titles)|what (?:new )?(?:products|positions)|list|name)\b|哪些|谁"
)
GROWTH = re.compile(
    r"(?ai)\bhow (?:much|fast|far|strongly) (?:did|has|have|does) .*"
    r"\b(?:grow|grown|increased?|rise|risen|declined?|fall|drop|decreased?|changed?)\b"
    r"|\b(?:growth|growth rate|year[- ]over[- ]year|yoy)\b|\bpercentage (?:change|increase|decrease)\b"
    r"|(?:同比|环比|增长|增加|下降|减少|上升)了?(?:多少|几)|增长率|增速|同比增长|增幅"
)
GROWTH_WORDS = frozenset(
    "grow grown grew growth increas rise risen declin fall drop decreas chang rate fast strong yoy"
    " 同比 环比 增长 增加 下降 减少 上升 增长率 增速 增幅 比 上年 上期 去年 同期".split()
)
WHO_DID = re.compile(r"(?ai)^\s*who (?!(?:is|are|was|were|has|have|had|did|does|do|will|can)\b)(?P<act>[a-z]+)\b")
EXPLAINS = re.compile(
    r"(?ai)^\s*(?:why\b|how (?:is|are|was|were|do|does|did)\b|what (?:does|do|did|caused|impacted|affected)\b"
    r"|(?:what|where)\b.*\b(?:reasons?|defined|consist|included?|meant|mean|determined|calculated|classified"
    r"|based on)\b)|为什么|原因|如何|怎么|怎样"
)
WHICH_PERIOD = re.compile(
    r"(?ai)\b(?:which|what) (?:of the )?(?:fiscal )?(?:years?|periods?|quarters?)\b|哪一?(?:些|个)?(?:年|季度)"
)
# What is to be computed of several figures, the most special first.
ARITHMETIC = (
    ("average", re.compile(r"(?ai)(?<!\bon )(?<!\bweighted[ -])\baverage\b|平均")),
    (
        "relative",
        re.compile(
            r"(?ai)\bpercent(?:age)? (?:change|increase|decrease)|\bchange \(%\)"
            r"|\bpercentage .*\b(?:change|increase|decrease)"
        ),
    ),
    ("change", re.compile(r"(?ai)\b(?:change|increase|decrease|difference)\b|变化|变动|差额|增加额|减少额")),
    ("sum", re.compile(r"(?ai)\b(?:sum|combined|altogether)\b|之和|合计")),
)
ARITHMETIC_WORDS = frozenset(
    "averag chang increas decreas differ sum combin 平均 变化 变动 差额 增加额 减少额 之和 合计".split()
)
SUPERLATIVE = re.compile(
    r"(?ai)\b(?:largest|biggest|highest|greatest|lowest|smallest|most expensive)\b|最[大高多低小少贵]"
)
# What reports often print under a narrower name alone. Both are one figure where nobody else holds a share.
_NARROWER = (
    (re.compile(r"(?ai)\bnet (?:income|profit|earnings)\b(?! margin)"), "net income attributable to shareholders"),
    (re.compile("净利润(?!率)"), "归属于上市公司股东的净利润"),
)
_IS_NARROW = re.compile(r"(?ai)\battributable\b|归属|归母")
_BOUND_BEFORE = re.compile(
    r"(?ai)(?:\b(?:after|beyond|above|over|more than|at least|exceed(?:s|ed|ing)?|under|below|less than|fewer than)"
    r"|满|超过|高于|多于|不足|低于|少于)\s*$"
)
_AGE = re.compile(r"(?ai)[-\s]*(?:(?:of age|and|or)\s+)?(?:olds?|older|younger|age|over)\b")
_BOUND_AFTER = re.compile(r"(?ai)\s*(?:or|and) (?:more|less|above|below|over)\b|\s*及?以[上下]")
LEGAL_FORM = re.compile(
    r"(?ai)\b(?:inc|incorporated|ltd|limited|corp|corporation|plc|llc|llp|lp|gmbh|ag|nv|sa|holdings?|bancorp"
    r"|bancshares|company|group)\b|公司|集团|银行"
)
# A document that is asked about by its kind, and the words of which it prints one.
DOCUMENT_KINDS = {
    "receipt": ("receipt", "invoice", "cash", "收据", "小票", "发票"),
    "invoice": ("invoice", "发票"),
    "contract": ("contract", "agreement", "合同", "协议"),
    "收据": ("收据", "小票", "receipt", "发票"),
    "小票": ("小票", "收据", "receipt"),
    "发票": ("发票", "invoice"),
    "合同": ("合同", "contract", "协议"),
}
DOCUMENT_KIND = re.compile(
    r"(?ai)\b(?:of|on|in|from|under) (?:the|this|that|my|our) (receipt|invoice|contract)\b"
    r"|(收据|小票|发票|合同)(?:上|中|里|的)"
)


def is_bound(text: str, start: int, end: int) -> bool:
    """Whether the quantity at `[start, end)` bounds what is asked: `after five years`, 满五年, 10年以上."""
    return _BOUND_BEFORE.search(text[:start]) is not None or _BOUND_AFTER.match(text[end:]) is not None


def is_age(text: str, start: int, end: int) -> bool:
    """Whether the duration at `[start, end)` is an age, which is printed in many ways: `80 years and older`."""
    return "old" in text[start:end] or _AGE.match(text[end:]) is not None


def narrowed(question: str) -> str:
    """The question for what is printed under a narrower name; empty where it asks for nothing of the kind."""
    if _IS_NARROW.search(question):
        return ""
    return next((pattern.sub(name, question) for pattern, name in _NARROWER if pattern.search(question)), "")
