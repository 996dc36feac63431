"""What figures are counted in, from the ledger of facts."""

from kb_qa.extraction.scales import counts_all, scales_of, stated

LINES = (
    "F1 | p.3 | Net sales | 2024 | 8,412 | USD 10^6",
    "F2 | p.3 | Net sales | 2023 | 7,650 | USD 10^6",
    "F3 | p.3 | Staff | 2024 | 21,450 | -",
    "F4 | p.3 | Cash | 2024 | 12 | 10^3",
    "F5 | p.4 | Cash | 2024 | 12 | 10^6",
    "F6 | p.5 | 营业收入 |  | 4,132 | CNY 10^4",
)


def test_a_figure_is_said_with_its_power_of_ten() -> None:
    """In words behind it; what has none, or two, stays as it is printed."""
    scales = scales_of(LINES)
    assert stated([("", "Net sales"), ("2024", "8,412")], scales, chinese=False)[1] == ("2024", "8,412 million")
    assert stated([("", "Staff"), ("2024", "21,450")], scales, chinese=False)[1] == ("2024", "21,450")
    assert stated([("", "Cash"), ("2024", "12")], scales, chinese=False)[1] == ("2024", "12")
    assert stated([("", "营业收入"), ("", "4,132")], scales, chinese=True)[1] == ("", "4,132万元")
    assert stated([], scales, chinese=True) == []


def test_a_unit_line_stands_for_figures_that_it_counts_alone() -> None:
    """`7,572 (in thousands)` beside a percentage would make that thousands too."""
    scales = scales_of(("F1 | p.1 | Renters | 2020 Number | 7,572 | 10^3", "F2 | p.1 | Renters | 2020 % | 3.1 | %"))
    number, share = ("2020 / Number", "7,572"), ("2020 / %", "3.1")
    assert counts_all([("", "Renters"), number], scales)
    assert not counts_all([("", "Renters"), number, share], scales)
    assert counts_all([("", "Owners . . ."), number, share], scales)
