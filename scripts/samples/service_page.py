"""service-levels.html: a web page in English with a Chinese section."""

from __future__ import annotations

from pathlib import Path

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Service levels and warranty</title>
</head>
<body>
<h1>Service levels and warranty</h1>
<p>This page describes the support that comes with every Harbourlight device. Harbourlight Devices is an invented
company, and all figures on this page are made up.</p>

<h2>Service levels</h2>
<p>The time to a first response counts from the moment a ticket is opened, during the service hours of its level.</p>
<table>
<caption>First response and service hours by level</caption>
<thead>
<tr><th>Level</th><th>First response</th><th>Service hours</th><th>Price per device and month</th></tr>
</thead>
<tbody>
<tr><td>Basic</td><td>16 hours</td><td>Monday to Friday, 9:00 to 17:00</td><td>included</td></tr>
<tr><td>Priority</td><td>150 minutes</td><td>Monday to Saturday, 7:00 to 21:00</td><td>$6.40</td></tr>
<tr><td>Critical</td><td>25 minutes</td><td>around the clock</td><td>$17.90</td></tr>
</tbody>
</table>

<h2>Warranty</h2>
<p>Devices are covered for 33 months from the date of delivery. Repairs are free of charge, and a replacement is sent
when a repair would take longer than twelve working days.</p>
<p>The warranty does not cover:</p>
<ul>
<li>damage by water, lightning or a wrong power supply;</li>
<li>devices that were opened by anyone but a certified partner;</li>
<li>consumables such as filters and seals.</li>
</ul>

<h2 lang="zh">电池保修</h2>
<p lang="zh">电池的保修期为27个月。保修期内容量低于标称值75%的，免费更换电池；更换后的电池享有6个月保修。</p>
<p lang="zh">寄修前请备份数据，并在包装内附上购买凭证。</p>
</body>
</html>
"""


def write(folder: Path) -> None:
    (folder / "service-levels.html").write_bytes(PAGE.encode())
