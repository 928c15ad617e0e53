"""A rule -> long texts made to slow its pattern down: its literal over and over, near misses, endless runs."""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.base.redact import Rule
from tests.security.redaction_examples import cases

RUNS = (
    b"a",
    b"A",
    b"0",
    b"-",
    b"_",
    b"=",
    b"/",
    b".",
    b":",
    b" ",
    b'"',
    b"'",
    b"\\",
    b"\n",
    b"\\n",
    b"\\u00e9",
    b"A1b2/",
    b"\xc3\xa9",
    b'","',
)
JOINTS = (b"", b" ", b"=", b'="', b'": "', b"\\n", b":a:", b" --", b"eyJ.", b"@", b"<", b"----BEGIN ")


def hostile_texts(rule: Rule, size: int) -> Iterator[tuple[str, bytes]]:
    """Pairs of a short description and a text of that size; each holds a literal of the rule."""
    examples = [case.text.encode() for case in cases() if case.rule == rule.name]
    for literal in rule.literals[:4]:
        for joint in JOINTS:
            yield f"{literal!r} then {joint!r}, repeated", fill(literal + joint, size)
        for run in RUNS:
            yield f"{literal!r} and a run of {run!r}", literal + fill(run, size - len(literal))
            yield f"{literal!r} between runs of {run!r}", fill(run * 40 + literal + run * 40, size)
    for example in examples[:3]:
        yield f"{example[:24]!r} repeated", fill(example + b" ", size)
        yield f"{example[:24]!r} cut short, repeated", fill(example[: len(example) * 2 // 3], size)
        for run in RUNS:
            yield f"{example[:24]!r} and a run of {run!r}", example + fill(run, size - len(example))
            yield (
                f"{example[:24]!r} cut short and a run of {run!r}",
                example[: len(example) // 2] + fill(run, size)[len(example) // 2 :],
            )


def fill(piece: bytes, size: int) -> bytes:
    return (piece * (size // len(piece) + 1))[:size]
