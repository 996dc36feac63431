"""Questions about the samples, each with the one place its answer stands, and questions that none of them answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """`answer` is the printed figure; plain text has no page. To be refused is what names something `absent`."""

    id: str
    language: str
    question: str
    answer: str = ""
    document: str = ""
    page: int | None = None
    section: tuple[str, ...] = ()
    absent: str = ""

    @property
    def refused(self) -> bool:
        return bool(self.absent)


_PAY = ("四、薪酬体系", "（一）职级与基本工资")
_INCOME = ("Financial Statements", "Consolidated Statements of Income")

QUESTIONS = (
    SampleQuestion("pay-p5", "zh", "P5的基本工资是多少？", "22000", "briefing.pdf", 4, _PAY),
    SampleQuestion("pay-p8", "zh", "P8的绩效系数是多少？", "1.80", "briefing.pdf", 4, _PAY),
    SampleQuestion(
        "revenue",
        "zh",
        "公司2025年的营业收入是多少？",
        "48.6亿元",
        "briefing.pdf",
        1,
        ("一、经营概览", "（一）总体情况"),
    ),
    SampleQuestion(
        "margin", "zh", "云服务的毛利率是多少？", "41.2%", "briefing.pdf", 2, ("二、业务进展", "（一）云服务")
    ),
    SampleQuestion(
        "quarter", "zh", "2025年第二季度的营业收入是多少亿元？", "11.7", "briefing.pdf", 3, ("三、季度走势",)
    ),
    SampleQuestion(
        "fund", "zh", "学习基金每年多少钱？", "4800元", "briefing.pdf", 5, ("五、福利与工作方式", "（二）补贴与基金")
    ),
    SampleQuestion("leave", "zh", "入职满一年的员工每年有几天年假？", "12天", "hb.md", None, ("手册", "假期")),
    SampleQuestion("expenses", "zh", "报销申请要在费用发生后多少天内提交？", "60天", "hb.md", None, ("手册", "报销")),
    SampleQuestion(
        "battery",
        "zh",
        "电池的保修期是多久？",
        "27个月",
        "service-levels.html",
        None,
        ("Service levels and warranty", "电池保修"),
    ),
    SampleQuestion(
        "net-sales", "en", "What were Northfell's net sales in 2024?", "8,412", "annual-report.pdf", 3, _INCOME
    ),
    SampleQuestion(
        "overhead",
        "en",
        "What were selling, general and administrative expenses in 2024?",
        "(1,204)",
        "annual-report.pdf",
        3,
        _INCOME,
    ),
    SampleQuestion(
        "europe",
        "en",
        "What share of net sales came from Europe in 2024?",
        "31.2%",
        "annual-report.pdf",
        4,
        ("Net Sales by Region",),
    ),
    SampleQuestion(
        "workforce",
        "en",
        "How many people did Northfell's workforce average during the year?",
        "21,450",
        "annual-report.pdf",
        2,
        ("Review of the Year", "People"),
    ),
    SampleQuestion(
        "invoice",
        "en",
        "What is the total due on invoice BW-70318 from Brightwater Office Supply?",
        "11,190.96",
        "scan.pdf",
        1,
    ),
    SampleQuestion(
        "electricity",
        "en",
        "How much electricity did the Corvane site use in the fourth quarter?",
        "2,594",
        "rotated.pdf",
        1,
        ("Electricity use by site",),
    ),
    SampleQuestion(
        "refund", "en", "Within how many days can I return a yearly Lumenbox plan?", "14 days", "refunds.txt"
    ),
    SampleQuestion("reset", "en", "How long is the password reset link valid?", "45 minutes", "reset-password.txt"),
    SampleQuestion("export", "en", "For how long can an export archive be downloaded?", "72 hours", "data-export.txt"),
    SampleQuestion(
        "hotel",
        "en",
        "What is the hotel limit per night in a Tier 2 city?",
        "178",
        "travel-policy.docx",
        None,
        ("Travel policy", "Hotels and meals"),
    ),
    SampleQuestion(
        "support",
        "en",
        "How soon does a Priority ticket get its first response?",
        "150 minutes",
        "service-levels.html",
        None,
        ("Service levels and warranty", "Service levels"),
    ),
    SampleQuestion("no-such-grade", "zh", "P9的基本工资是多少？", absent="P9"),
    SampleQuestion("no-such-year-zh", "zh", "公司2021年的营业收入是多少？", absent="2021"),
    SampleQuestion("no-such-year", "en", "What were Northfell's net sales in 2019?", absent="2019"),
    SampleQuestion(
        "no-such-company", "en", "What was the net income of Ravenscourt Holdings in 2024?", absent="Ravenscourt"
    ),
    SampleQuestion(
        "no-such-site",
        "en",
        "How much electricity did the Esterholt site use in the first quarter?",
        absent="Esterholt",
    ),
)
