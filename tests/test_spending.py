"""What was spent is kept by day, over restarts and from several threads."""

import threading
from pathlib import Path

from kb_qa.ledger import Ledger
from kb_qa.spending import SpendTable


def test_spending_adds_up_by_day_and_is_kept(tmp_path: Path) -> None:
    """Days do not mix; a ledger that is opened again knows the sum."""
    with Ledger.open(tmp_path, create=True) as ledger:
        table = SpendTable(ledger.database)
        assert table.spent("2026-11-30") == 0
        table.add("2026-11-30", 5)
        table.add("2026-11-30", 7)
        table.add("2026-12-01", 1)
    with Ledger.open(tmp_path, create=False) as ledger:
        table = SpendTable(ledger.database)
        assert (table.spent("2026-11-30"), table.spent("2026-12-01")) == (12, 1)


def test_two_answers_at_once_are_both_counted(tmp_path: Path) -> None:
    """Reading and writing are one transaction."""
    with Ledger.open(tmp_path, create=True) as ledger:
        table = SpendTable(ledger.database)
        threads = [threading.Thread(target=lambda: [table.add("d", 1) for _ in range(20)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert table.spent("d") == 60
