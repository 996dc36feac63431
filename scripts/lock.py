"""Write requirements.lock (what users install) and requirements-dev.lock (all that the tests need) from pyproject.toml.

Needs `pip-compile` of pip-tools. Index addresses and local version labels (`+cpu`) do not belong in the files.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILE = [
    *(sys.executable, "-m", "piptools", "compile", "--quiet", "--strip-extras", "--annotation-style=line"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-header"),
]


def main() -> None:
    write("requirements.lock", *sys.argv[1:])
    write("requirements-dev.lock", "--all-extras", "--constraint=requirements.lock", *sys.argv[1:])


def write(name: str, *options: str) -> None:
    subprocess.run([*COMPILE, *options, f"--output-file={name}", "pyproject.toml"], cwd=ROOT, check=True)
    path = ROOT / name
    path.write_text(re.sub(r"(?m)^([\w.-]+==[^\s+]+)\+\w+", r"\1", path.read_text()))


if __name__ == "__main__":
    main()
