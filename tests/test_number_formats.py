"""Number formats: the string that a cell shows."""

from __future__ import annotations

import datetime

import pytest

from ingest.number_formats import displayed


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (22000.0, "General", "22000"),
        (0.1 + 0.2, "General", "0.3"),
        (1e15, "General", "1000000000000000"),
        (0.125, "0.0%", "12.5%"),
        (-1200, "#,##0", "-1,200"),
        (-1200, "#,##0_);(#,##0)", "(1,200)"),
        (2.5, "0", "3"),
        (12, "0000", "0012"),
        (1.5, '0.0"万元"', "1.5万元"),
        (4812, '#,##0 "万元"', "4,812 万元"),
        (1234567, '#,##0,,"M"', "1M"),
        (1234567, "0.00E+00", "1.23E+06"),
        (3, "[$¥-804]#,##0.00", "¥3.00"),
        (-3.456, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$(3.46)"),
        (1.1, "0.##", "1.1"),
        (True, "General", "TRUE"),
        ("0012", "@", "0012"),
        (None, "General", ""),
        (datetime.datetime(2024, 3, 6, 8, 5), "yyyy-mm-dd h:mm", "2024-03-06 8:05"),
        (datetime.datetime(2024, 3, 6), "[$-804]yyyy/m/d;@", "2024/3/6"),
        (datetime.time(20, 5, 9), "h:mm:ss AM/PM", "8:05:09 PM"),
        (0.5, "# ?/?", "1/2"),
        (-1.5, "# ?/?", "-1 1/2"),
        (1.25, "?/?", "5/4"),
        (0.625, "# ?/8", "5/8"),
        (3.14159, "# ???/???", "3 16/113"),
        (0, '"up" 0;"down" 0;"flat"', "flat"),
        (0, "#,##0;(#,##0);-", "-"),
        (0, "0;-0;;@", ""),
        (-3, "0;;", ""),
        (123456789, "000-00-0000", "123-45-6789"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (99.5, "[>=100]0;[<100]0.0", "99.5"),
        (500, '[<10]"low";[>100]"high";0', "high"),
        ("text", '0;0;0;"t: "@', "t: text"),
        (1234567.891, "#,##0.0,", "1,234.6"),
        (1234567.891, '0.0,,"M"', "1.2M"),
        (123456, '0!.0,"万元"', "12.3万元"),
        (12345, "##0.0E+0", "12.3E+3"),
        (99950, "0.0E+0", "1.0E+5"),
        (1e21, "General", "1E+21"),
        (12345.6, "#\\ ##0.00", "12 345.60"),
        (-0.2, "0", "0"),
        (datetime.timedelta(minutes=75), "[mm]:ss", "75:00"),
        (datetime.datetime(2024, 3, 5), "mmmmm", "M"),
        (datetime.timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
    ],
)
def test_values_are_shown_by_their_number_format(value: object, number_format: str, shown: str) -> None:
    """As LibreOffice shows the same cells, signs above all; `!` escapes as in Excel."""
    assert displayed(value, number_format) == shown
