"""Write tests/golden/elements/: what the parser makes of each sample. Read the difference before you commit it.

python scripts/make_golden.py [NAME …]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.golden_boxes import SAMPLES  # noqa: E402  # found only now
from tests.golden_elements import golden_path, golden_text, parsed_sample  # noqa: E402


def main() -> None:
    names = sys.argv[1:] or sorted(path.name for path in SAMPLES.iterdir())
    for name in names:
        path = golden_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(golden_text(parsed_sample(name)), encoding="utf-8")
        print(f"{path.stat().st_size:>8}  {path.name}")


if __name__ == "__main__":
    main()
