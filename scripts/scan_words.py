"""Every text file of the repository -> the places that name something the repository must not speak of.

Hosts of package registries (the user's own mirror decides), paths of one particular machine, and row names of planning
tables that nobody outside can look up. Patterns are put together from pieces so that this file does not report itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
# Made by tools, not by people.
SKIPPED: Final = re.compile(r"^(\.git|\.venv.*|build|dist|__pycache__|\.[a-z_]+_cache|\.hypothesis)$")

_REGISTRIES: Final = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "crates" + ".io",
                      "ruby" + "gems.org", "ana" + "conda.org")  # fmt: skip
FORBIDDEN: Final[dict[str, re.Pattern[str]]] = {
    "a package registry's host": re.compile("|".join(re.escape(host) for host in _REGISTRIES), re.IGNORECASE),
    "a path of one machine": re.compile(r"(?<![\w.~-])/wo" + r"rk/|\.\./sha" + r"red\b"),
}
# In prose and comments only: data under tests/ may hold any letters. S3 is a storage service.
PLANNING: Final = re.compile(r"(?<![\w./+=-])(?:R(?:[1-9]|1\d|2[0-6])|S(?:[124-9]|1[0-8])|B[1-8]\.\d+)(?![\w/+=-])")


def files(root: Path) -> Iterator[Path]:
    """Every file a person wrote."""
    for path in sorted(root.iterdir()):
        if SKIPPED.match(path.name) or path.is_symlink():
            continue
        if path.is_dir():
            yield from files(path)
        elif path.is_file():
            yield path


def findings(root: Path = ROOT) -> list[str]:
    """One line per place."""
    found = []
    for path in files(root):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue  # not text; test data only
        prose = path.suffix in {".py", ".md", ".toml", ".sql"} and "fixtures" not in path.parts
        patterns = FORBIDDEN | ({"a planning table's row": PLANNING} if prose else {})
        for number, line in enumerate(text.split("\n"), 1):
            for reason, pattern in patterns.items():
                if match := pattern.search(line):
                    found.append(f"{path.relative_to(root)}:{number}: {reason}: {match[0]!r}")
    return found


def main() -> int:
    found = findings()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
