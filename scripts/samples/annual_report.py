"""annual-report.pdf: the English annual report of an invented company, five pages of US Letter."""

from __future__ import annotations

from kb_qa.geometry import BBox
from samples.canvas import Canvas, TableLook
from samples.typesetting import Colour, Style

NAVY: Colour = (0.1, 0.18, 0.36)
RUST: Colour = (0.72, 0.31, 0.18)
GREY: Colour = (0.42, 0.44, 0.48)
PALE: Colour = (0.95, 0.95, 0.97)

LEFT, RIGHT = 78.0, 534.0
WIDTH = RIGHT - LEFT

BODY = Style("serif", 11, leading=16.5)
SMALL = Style("sans", 8, GREY, leading=11.5)
SECTION = Style("sans-bold", 18, NAVY)
SUBSECTION = Style("sans-bold", 12, NAVY)
CAPTION = Style("sans-bold", 9.5)

# The fifth is broken by a line-end hyphen.
QUOTES = (
    "Customers in forty-one countries renewed their service agreements at a rate of 94.7%",
    "The order backlog stood at a record 2.6 years of production for our largest instruments",
    "no single customer accounted for more than 7% of net sales",
    "We opened a calibration laboratory in Rotterdam and closed two older sites",
    "This progress rests on continued investment in cloud analytics and in the people who run it",
    "Subscriptions to our analytics platform grew to 18,300 instruments under contract",
    "The workforce averaged 21,450 people during the year",
    "Europe was the fastest-growing large market, helped by hospital construction programmes",
    "we expect capital expenditure of between $310 million and $340 million in 2025",
    "A one-percentage-point change in the discount rate would change the obligation by $46 million",
)

INCOME = (
    ("Years ended December 31", "2024", "2023"),
    ("Net sales", "8,412", "7,650"),
    ("Cost of sales", "(5,047)", "(4,743)"),
    ("Gross profit", "3,365", "2,907"),
    ("Research and development", "(926)", "(803)"),
    ("Selling, general and administrative", "(1,204)", "(1,148)"),
    ("Restructuring charges", "(57)", "(12)"),
    ("Operating income", "1,178", "944"),
    ("Interest expense, net", "(98)", "(109)"),
    ("Income before income taxes", "1,080", "835"),
    ("Income tax expense", "(227)", "(184)"),
    ("Net income", "853", "651"),
    ("Diluted earnings per share (in dollars)", "3.41", "2.58"),
)
REGIONS = (
    ("Region", "2024 share", "2023 share", "Change in sales"),
    ("Americas", "44.6%", "46.1%", "6.4%"),
    ("Europe", "31.2%", "30.4%", "12.9%"),
    ("Asia Pacific", "24.2%", "23.5%", "13.2%"),
    ("Total", "100.0%", "100.0%", "10.0%"),
)


def draw() -> Canvas:
    canvas = Canvas("annual-report.pdf", 612.0, 792.0)
    for content in (_letter, _growth, _income, _regions, _notes):
        canvas.new_page()
        _furniture(canvas)
        content(canvas)
    return canvas


def _furniture(canvas: Canvas) -> None:
    canvas.text("Northfell Instruments, Inc.", LEFT, 44, SMALL, role="header")
    canvas.text("Annual Report 2024", RIGHT, 44, SMALL, align="right", role="header")
    canvas.rule((LEFT, 51), (RIGHT, 51), NAVY, 0.5)
    canvas.text("A sample document. The company and its figures are invented.", LEFT, 758, SMALL, role="footer")
    canvas.text(f"Page {len(canvas.pdf)}", RIGHT, 758, SMALL, align="right", role="footer")


def _prose(canvas: Canvas, y: float, *paragraphs: str) -> float:
    for text in paragraphs:
        y = canvas.paragraph(text, LEFT, y, BODY, width=WIDTH) + 7
    return y


def _letter(canvas: Canvas) -> None:
    canvas.heading("Annual Report 2024", LEFT, 122, Style("sans-bold", 32, NAVY), level=1)
    canvas.rectangle(BBox(LEFT, 138, LEFT + 60, 141), fill=RUST)
    canvas.text("Northfell Instruments, Inc.", LEFT, 164, Style("sans", 14, GREY), role="title")
    canvas.heading("Letter to Shareholders", LEFT, 222, SECTION, level=1)
    y = _prose(
        canvas,
        250,
        "To our shareholders: 2024 was the year in which the work of the past four years became visible. Demand for "
        "precise measurement grew in every region we serve, our factories delivered on time, and the new generation "
        "of instruments reached customers two months ahead of plan.",
        "Customers in forty-one countries renewed their service agreements at a rate of 94.7%, the highest since we "
        "began to report it. The order backlog stood at a record 2.6 years of production for our largest "
        "instruments, and no single customer accounted for more than 7% of net sales.",
        "We also simplified the company. We opened a calibration laboratory in Rotterdam and closed two older "
        "sites, and we moved all of our field engineers to one scheduling system. The average time from a call to a "
        "visit fell from 39 hours to 27 hours.",
        "The year also tested us. A flood at a supplier of optical glass stopped one production line for three "
        "weeks; a second supplier, qualified the year before, kept deliveries going. We have since qualified second "
        "sources for all parts that only one company used to make.",
        "None of this would have been possible without the patience of our suppliers and the care of our employees. On "
        "behalf of the board, we thank them.",
    )
    canvas.text("Eleanor Whitcombe", LEFT, y + 24, Style("serif-bold", 11))
    canvas.text("Chair of the Board", LEFT, y + 40, BODY)


def _growth(canvas: Canvas) -> None:
    canvas.heading("Review of the Year", LEFT, 96, SECTION, level=1)
    canvas.heading("Investing for growth", LEFT, 128, SUBSECTION, level=2)
    y = _prose(
        canvas,
        152,
        "Instruments today are sold with the software that reads them. This progress rests on continued "
        "invest\u00adment in cloud analytics and in the people who run it; the platform now checks every "
        "reading against the history of the instrument and warns of drift before a customer would notice it.",
        "Subscriptions to our analytics platform grew to 18,300 instruments under contract, and more than four "
        "fifths of new customers chose a plan of three years or longer.",
        "Research moved closer to the customer. Three quarters of our development projects now include an engineer "
        "from the company that will use the result, and the time from first sketch to first sale fell to 19 months.",
    )
    canvas.heading("People", LEFT, y + 16, SUBSECTION, level=2)
    y = _prose(
        canvas,
        y + 40,
        "The workforce averaged 21,450 people during the year. Voluntary turnover fell to 6.8%, and the rate of "
        "recordable injuries was 0.9 per million hours worked. We hired 640 apprentices and graduates.",
        "A common training programme for field engineers began in the spring. It ends with an examination that the "
        "engineers of our largest customers may take as well.",
    )
    canvas.heading("Priorities for the coming year", LEFT, y + 16, SUBSECTION, level=2)
    y += 40
    for text in (
        "Bring the compact spectrometer line to volume production at the Leeds plant.",
        "Move the remaining 35 distributors to direct electronic ordering.",
        "Cut the energy used for each instrument shipped by a further 5.5%.",
    ):
        y = canvas.item("•", text, LEFT, y, BODY, width=WIDTH) + 4


def _income(canvas: Canvas) -> None:
    canvas.heading("Financial Statements", LEFT, 96, SECTION, level=1)
    canvas.heading("Consolidated Statements of Income", LEFT, 128, SUBSECTION, level=2)
    canvas.text("Consolidated Statements of Income", LEFT, 160, CAPTION, role="caption")
    canvas.text("(in millions of US dollars, except per share data)", LEFT, 174, SMALL, role="unit")
    look = TableLook(
        widths=(276, 90, 90),
        aligns=("left", "right", "right"),
        body=Style("sans", 10),
        head=Style("sans-bold", 10, NAVY),
        row_height=26,
        rules="rows",
        head_fill=PALE,
        strong_rows=frozenset({3, 7, 11}),
    )
    y = canvas.table("Consolidated Statements of Income", INCOME, LEFT, 184, look)
    y = canvas.paragraph(
        "Amounts in parentheses are deductions. The accompanying notes are an integral part of these statements.",
        LEFT,
        y + 18,
        SMALL,
        width=WIDTH,
        role="footnote",
    )
    _prose(
        canvas,
        y + 18,
        "The effective tax rate was 21.0% in the year under report. Restructuring charges relate to the closure of "
        "the two sites named in the letter to shareholders.",
    )


def _regions(canvas: Canvas) -> None:
    canvas.heading("Net Sales by Region", LEFT, 96, SECTION, level=1)
    y = _prose(
        canvas,
        124,
        "Every region contributed to growth. Europe was the fastest-growing large market, helped by hospital "
        "construction programmes in Germany and Poland, while the Americas were held back by the timing of two "
        "federal contracts.",
    )
    canvas.text("Share of net sales by region", LEFT, y + 14, CAPTION, role="caption")
    canvas.text("(percent of net sales; change against the prior year)", LEFT, y + 28, SMALL, role="unit")
    look = TableLook(
        widths=(156, 100, 100, 100),
        aligns=("left", "right", "right", "right"),
        body=Style("sans", 10),
        head=Style("sans-bold", 10, NAVY),
        row_height=26,
        head_fill=PALE,
        strong_rows=frozenset({4}),
    )
    y = canvas.table("Share of net sales by region", REGIONS, LEFT, y + 38, look)
    canvas.heading("Outlook", LEFT, y + 44, SECTION, level=1)
    _prose(
        canvas,
        y + 72,
        "Order books are full for the first two quarters. Provided that exchange rates stay close to their level at "
        "the end of the year, we expect capital expenditure of between $310 million and $340 million in 2025, most "
        "of it for the Leeds plant and for the second phase of the Rotterdam laboratory.",
        "Two matters could change this picture: new export rules for optical sensors, which are expected in the "
        "summer, and the price of germanium, which doubled within eight months. Neither is included in the plan.",
        "The board has proposed a dividend of $1.15 per share, payable on May 22, 2025.",
    )


def _notes(canvas: Canvas) -> None:
    canvas.heading("Notes to the Financial Statements", LEFT, 96, SECTION, level=1)
    canvas.heading("Note 1. Basis of preparation", LEFT, 128, SUBSECTION, level=2)
    y = _prose(
        canvas,
        152,
        "The statements cover the company and the 58 subsidiaries it controls. Sales of instruments are recognised "
        "when control passes to the customer, and service income evenly over the term of the agreement.",
    )
    canvas.heading("Note 2. Retirement benefits", LEFT, y + 16, SUBSECTION, level=2)
    y = _prose(
        canvas,
        y + 40,
        "The company sponsors a defined benefit plan that was closed to new members in 2016. The plan's obligation was "
        "measured with a discount rate of 4.35%. A one-percentage-point change in the discount rate would change the "
        "obligation by $46 million.*",
    )
    canvas.heading("Note 3. Leases", LEFT, y + 16, SUBSECTION, level=2)
    _prose(
        canvas,
        y + 40,
        "The remaining term of the leases averages 6.2 years. Payments due within twelve months amount to $73 "
        "million, and no lease contains a covenant that restricts dividends.",
    )
    canvas.rule((LEFT, 690), (LEFT + 130, 690), GREY, 0.5)
    canvas.paragraph(
        "* The sensitivity assumes that all other assumptions stay unchanged and is an estimate of the plan's actuary.",
        LEFT,
        705,
        SMALL,
        width=WIDTH,
        role="footnote",
    )
