"""Settings files as people and tools leave them: name -> bytes. Each one must come back from an installation unharmed."""

from __future__ import annotations

import json
from typing import Final

_OTHER: Final = {"type": "command", "command": "/opt/other tool/run.sh --stop"}
_FULL: Final = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json", "model": "opus", "env": {"A": "1", "B": ""},
    "permissions": {"allow": ["Bash(ls:*)", "Read"], "deny": []}, "cleanupPeriodDays": 30,
    "hooks": {
        "PostToolUse": [{"matcher": "Edit|Write", "hooks": [_OTHER, {**_OTHER, "timeout": 3}]}],
        "Stop": [{"hooks": [_OTHER]}], "Notification": [{"matcher": "", "hooks": [_OTHER]}],
    },
}  # fmt: skip


def _dumped(indent: int | str | None, newline: str = "\n", end: str = "\n", **more: object) -> bytes:
    return (json.dumps(_FULL, indent=indent, **more).replace("\n", newline) + end).encode()  # type: ignore[arg-type]


STYLES: Final[dict[str, bytes]] = {
    "two spaces": _dumped(2),
    "four spaces": _dumped(4),
    "one space": _dumped(1),
    "three spaces": _dumped(3),
    "tabs": _dumped("\t"),
    "tabs and CRLF": _dumped("\t", "\r\n", "\r\n"),
    "CRLF": _dumped(2, "\r\n", "\r\n"),
    "bare CR": _dumped(2, "\r", "\r"),
    "no final newline": _dumped(2, end=""),
    "three final newlines": _dumped(2, end="\n\n\n"),
    "final spaces": _dumped(2, end="  \n \t"),
    "no indentation but lines": _dumped(0),
    "minified": _dumped(None, end="", separators=(",", ":")),
    "one line": _dumped(None),
    "spaces around colons": _dumped(2, separators=(",", " : ")),
    "byte order mark": b"\xef\xbb\xbf" + _dumped(2),
    "byte order mark and empty object": b"\xef\xbb\xbf{}",
    "byte order mark alone": b"\xef\xbb\xbf",
    "empty file": b"",
    "white space alone": b" \n\t\r\n",
    "empty object": b"{}",
    "empty object and newline": b"{}\n",
    "empty object with space": b"{ }\n",
    "empty object over lines": b"{\n\n}\n",
    "leading white space": b"\n\n  {\n    \"a\": 1\n  }\n",
    "no hooks": b'{\n  "model": "opus"\n}\n',
    "no hooks, one line": b'{"model": "opus"}\n',
    "no hooks, minified": b'{"model":"opus"}',
    "empty hooks": b'{\n  "hooks": {}\n}\n',
    "empty hooks with space": b'{\n  "hooks": {  },\n  "z": 1\n}\n',
    "empty hooks, one line": b'{"hooks": {}, "z": [1, 2]}',
    "empty event": b'{\n  "hooks": {\n    "Stop": [],\n    "SessionEnd": [ ]\n  }\n}\n',
    "empty event over lines": b'{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n',
    "empty group": b'{"hooks": {"Stop": [{}, {"hooks": []}, {"matcher": "x"}]}}',
    "group on one line": b'{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "x"}]}]\n  }\n}\n',
    "comma first": b'{\n    "a": 1\n  , "b": 2\n  , "hooks": {\n        "Stop": []\n      , "PreCompact": []\n    }\n}\n',
    "mixed indentation": b'{\n "a": 1,\n\t"b": {\n      "c": [\n 1,\n2]},\n   "hooks" :\n{ "Stop" :\n[ ] } }',
    "escapes": b'{"\\u0061": "\\ud83d\\ude00 \\/ \\u00e9 \\b\\f", "\\u0068ooks": {"St\\u006fp": []}, "lone": "\\ud800"}\n',
    "raw unicode": '{\n  "naïve ключ": "日本 \u2028 😀 \x7f",\n  "hooks": {}\n}\n'.encode(),
    "numbers": b'{"big": 123456789012345678901234567890, "f": 1.0, "e": 1E+5, "m": -0, "p": 0.10, "x": 1e400}',
    "repeated keys": b'{"a": 1, "a": 2, "hooks": {"Stop": [1]}, "hooks": {"Stop": [], "Stop": [{"hooks": []}]}, "a": 3}',
    "hooks elsewhere": b'{"env": {"hooks": {"Stop": "x"}}, "x": [{"hooks": [1]}], "permissions": {"hooks": null}}\n',
    "strange groups": b'{"hooks": {"Stop": [null, 7, "x", [], {"hooks": null}, {"hooks": [null, 1, {"command": 3}]}]}}',
    "strange hooks": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo \'open"}, {"args": [1]}]}]}}',
    "brackets in strings": b'{"a": "}],{[\\"", "b": "\\\\", "hooks": {"Stop": [{"matcher": "]}"}]}}',
    "blank lines between": b'{\n\n  "a": 1,\n\n  "b": 2\n\n}\n',
    "deep": b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}",
    "long": b'{\n  "a": "' + b"x" * 200_000 + b'"\n}\n',
}  # fmt: skip

# What must be left alone: name -> bytes and what the message has to say.
REFUSED: Final[dict[str, tuple[bytes, str]]] = {
    "line comment": (b'{\n  // mine\n  "a": 1\n}\n', "line 2, column 3: a comment"),
    "block comment": (b'{"a": 1 /* mine */}', "line 1, column 9: a comment"),
    "trailing comma": (b'{\n  "a": 1,\n}\n', "line 3, column 1: a comma with nothing behind it"),
    "trailing comma in an array": (b"[1,]", "line 1, column 4: a comma with nothing behind it"),
    "cut off": (b'{\n  "a": {', "line 2, column 9: the text ends too early"),
    "single quotes": (b"{'a': 1}", "line 1, column 2: a key in double quotes"),
    "no colon": (b'{"a" 1}', "line 1, column 6: a colon is missing"),
    "no comma": (b'{"a": 1 "b": 2}', "line 1, column 9: a comma or } is missing"),
    "two documents": (b"{}\n{}\n", "line 2, column 1: something follows"),
    "not a number": (b'{"a": NaN}', "line 1, column 7: not a JSON value"),
    "leading zero": (b'{"a": 01}', "line 1, column 8: a comma or }"),
    "raw newline in a string": (b'{"a": "x\ny"}', "line 1, column 7: a string"),
    "bad escape": (b'{"a": "\\x"}', "line 1, column 7: a string"),
    "missing value": (b'{"a": }', "line 1, column 7: a value is missing"),
    "too deep": (b"[" * 5000 + b"]" * 5000, "nested more than 200 deep"),
    "not UTF-8": (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "byte 0 is not UTF-8"),
    "an array": (b"[]", "the document is of type array"),
    "a string": (b'"x"', "the document is of type string"),
    "hooks is a list": (b'{"hooks": []}', '"hooks" is of type array'),
    "hooks is null": (b'{"hooks": null}', '"hooks" is of type word'),
    "an event is an object": (b'{"hooks": {"Stop": {}}}', '"hooks" / "Stop" is of type object'),
}
