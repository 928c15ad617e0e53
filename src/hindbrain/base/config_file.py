"""config.toml -> settings by dotted name, with the line each stands on; and one setting changed -> the new text.

A change touches one line and leaves comments and order alone. The new text is parsed again and has to say what the old
one said plus the change; a layout this small editor does not understand is refused, not mangled.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hindbrain.base.errors import ConfigError
from hindbrain.base.files import read_private
from hindbrain.base.settings import BY_NAME, Value

LIMIT: Final = 1 << 20

_HEADER: Final = re.compile(r"\s*\[\s*([\w.\-]+)\s*\]\s*(?:#.*)?$")
_KEY: Final = re.compile(r"\s*([\w.\-]+)\s*=")
_COMMENT: Final = re.compile(r"""=\s*(?:"[^"\\]*"|'[^']*'|\[[^\]#]*\]|[^#"'\[]*?)(\s*\#.*)$""")


def read_text(path: Path) -> str:
    """The file's text; empty when there is no file."""
    data = read_private(path, LIMIT)
    try:
        return (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"cannot read {path}, line {line}: byte {error.start} is not UTF-8", hint="save the file as UTF-8"
        ) from error


def parse(path: Path, text: str) -> dict[str, object]:
    """What the text sets, by dotted name. Raises ConfigError for broken TOML; unknown names are the caller's matter."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for a number of thousands of digits
        raise ConfigError(
            f"cannot read {path}: {error}", hint="correct the file, or move it away to use the defaults"
        ) from error
    return dict(_flat("", document))


def _flat(prefix: str, table: Mapping[str, object]) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict) and any(known.startswith(name + ".") for known in BY_NAME):
            found += _flat(name + ".", value)
        else:
            found.append((name, value))
    return found


def line_of(text: str, name: str) -> int | None:
    """The line (from 1) that sets a name, when it is written plainly."""
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            section = header[1] + "."
        elif (key := _KEY.match(line)) and section + key[1] == name:
            return number
    return None


def with_value(path: Path, text: str, name: str, value: Value) -> str:
    """The text with one setting changed or added."""
    old = parse(path, text)
    lines = text.removesuffix("\n").split("\n") if text else []
    number = line_of(text, name)
    if number is not None:
        line = lines[number - 1]
        comment = _COMMENT.search(line)
        lines[number - 1] = f"{line.split('=', 1)[0].rstrip()} = {_toml(value)}{comment[1] if comment else ''}"
    else:
        _insert(lines, name, value)
    new_text = "\n".join(lines) + "\n"
    expected = old | {name: list(value) if isinstance(value, tuple) else value}
    if _parsed_or_none(new_text) != expected:
        raise ConfigError(
            f"cannot set {name}: {path} is laid out in a way that is not safe to edit",
            hint=f"set {name} by hand in {path}",
        )
    return new_text


def _insert(lines: list[str], name: str, value: Value) -> None:
    section, _, key = name.rpartition(".")
    headers = [(number, found[1]) for number, line in enumerate(lines) if (found := _HEADER.match(line))]
    if not section:
        # Names without a section have to stand before the first header.
        lines.insert(headers[0][0] if headers else len(lines), f"{key} = {_toml(value)}")
        return
    for number, header in headers:
        if header == section:
            lines.insert(number + 1, f"{key} = {_toml(value)}")
            return
    lines += [*([""] if lines else []), f"[{section}]", f"{key} = {_toml(value)}"]


def _parsed_or_none(text: str) -> dict[str, object] | None:
    try:
        return dict(_flat("", tomllib.loads(text)))
    except ValueError:
        return None


def _toml(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
