"""briefing.pdf: the Chinese yearly briefing of an invented company, five pages."""

from __future__ import annotations

from kb_qa.geometry import BBox
from samples.canvas import Canvas, TableLook
from samples.typesetting import Colour, Style

LAKE: Colour = (0.06, 0.36, 0.43)
SAND: Colour = (0.87, 0.62, 0.28)
MIST: Colour = (0.91, 0.95, 0.96)
GREY: Colour = (0.42, 0.46, 0.5)
WHITE: Colour = (1.0, 1.0, 1.0)

LEFT, RIGHT = 60.0, 535.0
WIDTH = RIGHT - LEFT

BODY = Style("zh", 10.5, leading=19)
SMALL = Style("zh", 8.5, GREY, leading=14)
SECTION = Style("zh", 17, LAKE, heavy=True)
SUBSECTION = Style("zh", 12.5, LAKE, heavy=True)
CAPTION = Style("zh", 9.5, heavy=True)
LABEL = Style("zh", 9)
VALUE = Style("zh", 9.5, LAKE, heavy=True)

QUOTES = (
    "云服务全年实现收入27.9亿元，毛利率为41.2%，较上年提高1.6个百分点",
    "智能终端全年实现收入15.2亿元，毛利率为28.7%",
    "第四季度营业收入最高，达到13.7亿元",
    "员工每周可申请2天远程办公，须提前一个工作日报直属主管备案",
)

KEY_FIGURES = (
    ("营业收入", "48.6亿元", "同比增长12.5%"),
    ("净利润", "6.3亿元", "同比增长16.7%"),
    ("研发投入占比", "15.0%", "投入7.29亿元"),
    ("期末员工", "3,150人", "较上年增加286人"),
)

CLOUD = (
    "云服务全年实现收入27.9亿元，毛利率为41.2%，较上年提高1.6个百分点。公有云客户数达到9,640家，其中年消费额超过百万元的客户"
    "有174家。",
    "公司在华东和西南新建两座数据中心，机柜总数增至5,200个，平均电能利用效率降至1.24。容量按未来两年的需求预留，不再新增租赁机房。",
    "服务质量方面，核心平台全年可用性为99.97%，重大故障次数由4次降为1次，客户工单的平均首次响应时间为11分钟。",
    "下一步，云服务将集中投入数据库和模型推理两条产品线，并把交付周期由26天缩短到18天。",
)
DEVICES = (
    "智能终端全年实现收入15.2亿元，毛利率为28.7%，较上年下降0.9个百分点，主要受存储芯片价格上涨影响。",
    "全年出货量为231万台，海外市场占出货量的36.4%。新一代会议终端于9月上市，首季售出8.3万台，主要销往教育和医疗行业。",
    "质量方面，开箱合格率为99.2%，一年内返修率由2.4%降为1.9%。售后网点增至318个，覆盖所有地级市。",
    "下一步，智能终端将统一硬件平台，把在售型号由47款精简到29款，降低备件库存。",
)
QUARTERS = (("第一季度", 10.8), ("第二季度", 11.7), ("第三季度", 12.4), ("第四季度", 13.7))
SHARES: tuple[tuple[str, float, Colour], ...] = (
    ("云服务", 57.4, LAKE),
    ("智能终端", 31.3, (0.36, 0.62, 0.68)),
    ("其他业务", 11.3, SAND),
)
GRADES = (
    ("职级", "岗位示例", "基本工资", "绩效系数"),
    ("P4", "助理工程师", "16500", "1.00"),
    ("P5", "工程师", "22000", "1.15"),
    ("P6", "高级工程师", "29500", "1.30"),
    ("P7", "技术专家", "38800", "1.50"),
    ("P8", "首席专家", "51200", "1.80"),
)
ALLOWANCES = (
    ("项目", "标准", "适用范围"),
    ("餐饮补贴", "35元/工作日", "全体员工"),
    ("通讯补贴", "180元/月", "销售与运维岗位"),
    ("学习基金", "4800元/年", "转正员工"),
    ("年度体检", "1次/年", "员工及一名家属"),
)


def draw() -> Canvas:
    canvas = Canvas("briefing.pdf", 595.0, 842.0)
    for content in (_overview, _business, _quarters, _pay, _benefits):
        canvas.new_page()
        _furniture(canvas)
        content(canvas)
    return canvas


def _furniture(canvas: Canvas) -> None:
    if len(canvas.pdf) > 1:
        canvas.text("澄湖科技有限公司 · 2025年度经营简报", LEFT, 44, SMALL, role="header")
        canvas.text("内部资料", RIGHT, 44, SMALL, align="right", role="header")
        canvas.rule((LEFT, 52), (RIGHT, 52), LAKE)
    canvas.text("本文件为示例，公司与数据均为虚构", LEFT, 806, SMALL, role="footer")
    canvas.text(f"第{len(canvas.pdf)}页", RIGHT, 806, SMALL, align="right", role="footer")


def _overview(canvas: Canvas) -> None:
    canvas.rectangle(BBox(0, 0, 595, 178), fill=LAKE)
    canvas.rectangle(BBox(LEFT, 128, LEFT + 46, 131), fill=SAND)
    canvas.heading("2025年度经营简报", LEFT, 108, Style("zh", 30, WHITE, heavy=True), level=1)
    canvas.text("澄湖科技有限公司　战略发展部", LEFT, 154, Style("zh", 11, WHITE), role="title")
    canvas.heading("一、经营概览", LEFT, 224, SECTION, level=1)
    canvas.heading("（一）总体情况", LEFT - 5, 256, SUBSECTION, level=2)
    y = canvas.paragraph(
        "2025年，公司实现营业收入48.6亿元，同比增长12.5%；实现净利润6.3亿元，同比增长16.7%。研发投入7.29亿元，占营业收入的"
        "15.0%。年末员工总数为3,150人，较上年末增加286人。",
        LEFT,
        282,
        BODY,
        width=WIDTH,
    )
    card = (WIDTH - 36) / 4
    for number, (label, value, note) in enumerate(KEY_FIGURES):
        x = LEFT + number * (card + 12)
        canvas.rectangle(BBox(x, y, x + card, y + 84), fill=MIST)
        canvas.rectangle(BBox(x, y, x + card, y + 3), fill=LAKE)
        canvas.text(label, x + 12, y + 25, SMALL)
        canvas.text(value, x + 12, y + 51, Style("zh", 18, LAKE, heavy=True))
        canvas.text(note, x + 12, y + 71, SMALL)
    canvas.heading("（二）年度重点", LEFT - 5, y + 122, SUBSECTION, level=2)
    y += 148
    for text in (
        "新签年度合同客户412家，老客户续约率为93.4%，两项指标均为三年来最好水平。",
        "全年取得发明专利授权68项，参与制定行业标准5项。",
        "完成供应链系统切换，订单平均交付时间由11天缩短到7天。",
        "单位营业收入能耗较上年下降8.8%，提前完成三年节能计划。",
    ):
        y = canvas.item("•", text, LEFT, y, BODY, width=WIDTH) + 3
    canvas.heading("（三）阅读说明", LEFT - 5, y + 22, SUBSECTION, level=2)
    canvas.paragraph(
        "本简报第二部分介绍各业务进展，第三部分给出分季度数据，第四部分和第五部分为薪酬与福利政策。除另有说明外，金额以人民币"
        "计，百分比变动均与上年同期相比。",
        LEFT,
        y + 48,
        BODY,
        width=WIDTH,
    )


def _business(canvas: Canvas) -> None:
    canvas.heading("二、业务进展", LEFT, 92, SECTION, level=1)
    gutter = 30.0
    column = (WIDTH - gutter) / 2
    columns = (("（一）云服务", CLOUD), ("（二）智能终端", DEVICES))
    lowest = 0.0
    for number, (title, paragraphs) in enumerate(columns):
        x, y = LEFT + number * (column + gutter), 156.0
        canvas.heading(title, x - 5, 128, SUBSECTION, level=2)
        for text in paragraphs:
            y = canvas.paragraph(text, x, y, BODY, width=column) + 8
        lowest = max(lowest, y)
    middle = LEFT + column + gutter / 2
    canvas.rule((middle, 116), (middle, lowest - 20), (0.8, 0.84, 0.86))
    canvas.heading("（三）其他业务", LEFT - 5, lowest + 22, SUBSECTION, level=2)
    y = canvas.paragraph(
        "其他业务包括系统集成、培训认证和维保服务，全年实现收入5.5亿元。其中培训认证覆盖学员2.6万人次，维保合同平均期限为"
        "30个月。",
        LEFT,
        lowest + 48,
        BODY,
        width=WIDTH,
    )
    canvas.rectangle(BBox(LEFT, y + 6, RIGHT, y + 92), fill=MIST)
    canvas.rectangle(BBox(LEFT, y + 6, LEFT + 4, y + 92), fill=SAND)
    canvas.text("风险提示", LEFT + 18, y + 30, CAPTION)
    canvas.paragraph(
        "存储芯片价格若继续上涨10%，预计智能终端全年毛利将减少约0.4亿元；公司已与三家供应商签订锁价协议，覆盖下一年度"
        "六成的采购量。",
        LEFT + 18,
        y + 52,
        BODY,
        width=WIDTH - 36,
    )


def _quarters(canvas: Canvas) -> None:
    canvas.heading("三、季度走势", LEFT, 92, SECTION, level=1)
    y = canvas.paragraph(
        "全年营业收入逐季增长。第四季度营业收入最高，达到13.7亿元，主要来自云服务年度合同的集中交付和会议终端的首批销售。",
        LEFT,
        120,
        BODY,
        width=WIDTH,
    )
    _bars(canvas, BBox(LEFT, y, RIGHT, y + 290))
    canvas.text("图1　2025年各季度营业收入（单位：亿元）", 297.5, y + 312, CAPTION, align="center", role="caption")
    _share_bar(canvas, BBox(LEFT, y + 346, RIGHT, y + 430))
    canvas.text("图2　2025年营业收入构成", 297.5, y + 452, CAPTION, align="center", role="caption")
    canvas.paragraph(
        "从构成看，云服务占比超过一半，智能终端约占三成，其他业务占比与上年基本持平。",
        LEFT,
        y + 488,
        BODY,
        width=WIDTH,
    )


def _bars(canvas: Canvas, box: BBox) -> None:
    canvas.rectangle(box, stroke=(0.8, 0.84, 0.86))
    canvas.image("图1　2025年各季度营业收入（单位：亿元）", box)
    left, right, base, unit = box.x0 + 52, box.x1 - 24, box.y1 - 40, 13.5
    canvas.text("亿元", left - 30, box.y0 + 22, LABEL, role="chart")
    for mark in range(0, 16, 5):
        y = base - mark * unit
        canvas.rule((left, y), (right, y), (0.45, 0.5, 0.53) if mark == 0 else (0.86, 0.89, 0.9))
        canvas.text(str(mark), left - 8, y + 3, LABEL, align="right", role="chart")
    step = (right - left) / len(QUARTERS)
    for number, (name, value) in enumerate(QUARTERS):
        middle = left + (number + 0.5) * step
        canvas.rectangle(BBox(middle - 26, base - value * unit, middle + 26, base - 0.4), fill=LAKE)
        canvas.text(f"{value}", middle, base - value * unit - 6, VALUE, align="center", role="chart")
        canvas.text(name, middle, base + 18, LABEL, align="center", role="chart")


def _share_bar(canvas: Canvas, box: BBox) -> None:
    canvas.rectangle(box, stroke=(0.8, 0.84, 0.86))
    canvas.image("图2　2025年营业收入构成", box)
    x, length = box.x0 + 18, box.width - 36
    for name, share, colour in SHARES:
        width = length * share / 100
        canvas.rectangle(BBox(x, box.y0 + 16, x + width, box.y0 + 44), fill=colour)
        canvas.text(
            f"{share}%", x + width / 2, box.y0 + 34, Style("zh", 10, WHITE, heavy=True), align="center", role="chart"
        )
        canvas.rectangle(BBox(x + 1, box.y0 + 56, x + 9, box.y0 + 64), fill=colour)
        canvas.text(name, x + 14, box.y0 + 64, LABEL, role="chart")
        x += width


def _pay(canvas: Canvas) -> None:
    canvas.heading("四、薪酬体系", LEFT, 92, SECTION, level=1)
    canvas.heading("（一）职级与基本工资", LEFT - 5, 126, SUBSECTION, level=2)
    y = canvas.paragraph(
        "公司实行职级工资制。月度工资由基本工资和绩效工资组成，绩效工资等于绩效基数乘以绩效系数。各职级的标准见下表，自2025年"
        "7月1日起执行。",
        LEFT,
        152,
        BODY,
        width=WIDTH,
    )
    canvas.text("表1　职级与基本工资", LEFT, y + 14, CAPTION, role="caption")
    canvas.text("单位：元/月", RIGHT, y + 14, SMALL, align="right", role="unit")
    look = TableLook(
        widths=(90, 165, 120, 100),
        aligns=("center", "left", "right", "right"),
        body=Style("zh", 10.5),
        head=Style("zh", 10.5, WHITE, heavy=True),
        row_height=30,
        head_fill=LAKE,
        padding=14,
    )
    y = canvas.table("表1　职级与基本工资", GRADES, LEFT, y + 24, look)
    y = canvas.paragraph(
        "注：绩效系数适用于年度考核结果为“良好”的员工；考核结果为“优秀”的，在表列系数上再加0.20。",
        LEFT,
        y + 20,
        SMALL,
        width=WIDTH,
        role="footnote",
    )
    canvas.heading("（二）调薪规则", LEFT - 5, y + 30, SUBSECTION, level=2)
    y += 56
    for number, text in enumerate(
        (
            "每年4月集中调薪一次，平均调薪幅度由薪酬委员会根据经营情况确定，2025年为5.6%。",
            "晋升职级的员工，自晋升生效次月起执行新职级的基本工资。",
            "试用期工资为所定职级基本工资的九成，试用期最长不超过六个月。",
        ),
        start=1,
    ):
        y = canvas.item(f"{number}.", text, LEFT, y, BODY, width=WIDTH) + 3
    canvas.heading("（三）岗位与职级", LEFT - 5, y + 24, SUBSECTION, level=2)
    canvas.paragraph(
        "岗位示例仅说明各职级的典型职责，不限定岗位名称。产品、设计、市场和职能岗位按同一标准定级，由职级评审委员会每半年"
        "评审一次，评审结果在公示五个工作日后生效。",
        LEFT,
        y + 50,
        BODY,
        width=WIDTH,
    )


def _benefits(canvas: Canvas) -> None:
    canvas.heading("五、福利与工作方式", LEFT, 92, SECTION, level=1)
    canvas.heading("（一）弹性工作", LEFT - 5, 126, SUBSECTION, level=2)
    y = 152.0
    for number, text in enumerate(
        (
            "核心工作时间为10:00至16:00，其余时间由员工自行安排，每日工时不少于八小时。",
            "员工每周可申请2天远程办公，须提前一个工作日报直属主管备案。",
            "连续远程办公超过10个工作日的，由部门负责人审批。",
        ),
        start=1,
    ):
        y = canvas.item(f"{number}.", text, LEFT, y, BODY, width=WIDTH) + 3
    canvas.heading("（二）补贴与基金", LEFT - 5, y + 24, SUBSECTION, level=2)
    y = canvas.paragraph("各项补贴随当月工资发放，学习基金凭结业证明报销。", LEFT, y + 50, BODY, width=WIDTH)
    canvas.text("表2　补贴与基金标准", LEFT, y + 12, CAPTION, role="caption")
    look = TableLook(
        widths=(140, 150, 185),
        aligns=("left", "left", "left"),
        body=Style("zh", 10.5),
        head=Style("zh", 10.5, LAKE, heavy=True),
        row_height=25,
        rules="none",
        padding=0,
    )
    y = canvas.table("表2　补贴与基金标准", ALLOWANCES, LEFT, y + 20, look)
    canvas.heading("（三）联系方式", LEFT - 5, y + 40, SUBSECTION, level=2)
    canvas.paragraph(
        "对本简报内容有疑问的，请联系战略发展部；对薪酬与福利政策有疑问的，请联系人力资源部，服务时间为工作日9:30至17:30。",
        LEFT,
        y + 66,
        BODY,
        width=WIDTH,
    )
