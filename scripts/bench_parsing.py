"""Processor time of parsing, page by page: `python scripts/bench_parsing.py FOLDER [--pages 20] [--files 2] -o OUT`.

Reads the first pages of some PDFs in this process with one thread, as a parsing child does, and writes for each page
its seconds of processor time and what was found, so that two versions can be run beside each other and compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import pymupdf

from ingest.document_reader import silence_mupdf
from ingest.limits import Limits
from ingest.page_reader import read_page_draft


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--files", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    silence_mupdf()
    results = []
    for path in sorted(options.folder.glob("*.pdf"))[:: max(18 // options.files, 1)][: options.files]:
        with pymupdf.open(path) as document:
            read_page_draft(document[2], 3, Limits())  # loads the models
            for index in range(min(options.pages, document.page_count)):
                started = time.process_time()
                drafts = read_page_draft(document.reload_page(document[index]), index + 1, Limits()).drafts
                seconds = time.process_time() - started
                found = Counter(draft.category for draft in drafts)
                texts = [[draft.category, draft.text] for draft in drafts]
                results.append(
                    {"file": path.name, "page": index + 1, "seconds": seconds, "found": found, "texts": texts}
                )
    options.output.write_text(json.dumps(results))
    spent = sum(result["seconds"] for result in results)
    print(f"n={len(results)} pages, {spent / len(results):.3f} s of processor time a page")


if __name__ == "__main__":
    main()
