"""Decisions of coding sessions and their amendments -> how often the newest comes first, asked through the public library.

    python -m bench.updates [--half even|odd|both] [--show]

Cases in amendments.txt, told by hand: what a ranking made for talk about hobbies gets wrong. Each decision and each amendment is
said in a session of its own among other talk. Cases with an even number were looked at while the rule was tuned.
`now`: the amendment stands before the decision; `past`: asked for how it was before, the decision stands before the amendment;
`lookalikes`: a newer statement that changes nothing does not push the answer down.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from hindbrain import Memory

CASES: Final = Path(__file__).with_name("amendments.txt")
START: Final = datetime(2026, 3, 1, tzinfo=UTC)
PROJECT: Final = "updates"
TALK: Final = (
    "Run the tests again and show me what fails.", "Why does the build take so long?",
    "Looks good, commit it with a short message.", "Can you explain what this function does?",
    "The import in src/net/__init__.py is circular.", "Please add a docstring to the parser.",
)  # fmt: skip
REPLY: Final = "Done. I looked at {0} and changed the code as you asked; all tests pass. " + "Here is what I touched. " * 40


class Case(NamedTuple):
    """Something said, something said about it or near it later, and a question; `past` where that asks for how it was."""

    number: int
    kind: str
    older: str
    newer: str
    question: str


def cases(path: Path = CASES) -> list[Case]:
    """The cases of the file, in order."""
    amended, lookalikes = (_paragraphs(part) for part in path.read_text("utf-8").split("# Lookalikes")[:2])
    found = [Case(number, "now", each[0], each[1], each[2]) for number, each in enumerate(amended)]
    found += [Case(number, "past", each[0], each[1], each[3]) for number, each in enumerate(amended)]
    return found + [Case(number, "lookalikes", each[0], each[1], each[2]) for number, each in enumerate(lookalikes)]


def _paragraphs(text: str) -> list[list[str]]:
    return [part.split("\n") for part in text.strip().split("\n\n")[1:]]


def told(memory: Memory, asked: Sequence[Case]) -> None:
    """Have everything said: what is older in spring, what is newer in summer, no two cases side by side."""
    statements = {(case.kind == "lookalikes", case.number): case for case in asked}
    for place, (name, case) in enumerate(statements.items()):
        for part, text in enumerate((case.older, case.newer)):
            day = 90 * part + (37 * place) % 89
            _session(memory, f"{name[0]:d}-{name[1]}-{part}", START + timedelta(days=day), text, place + part)
    memory.settle(timeout=300)


def _session(memory: Memory, session: str, at: datetime, text: str, number: int) -> None:
    said = [
        ("user", TALK[number % 6]), ("assistant", REPLY.format(TALK[number % 6])), ("user", text),
        ("assistant", REPLY.format(text[:40])), ("user", TALK[(number + 3) % 6]),
    ]  # fmt: skip
    for place, (role, what) in enumerate(said):
        moment = at + timedelta(seconds=30 * place)
        memory.record(
            agent="bench", session=session, role=role, text=what, at=moment, project=PROJECT, key=f"{session}#{place}"
        )


def judged(memory: Memory, asked: Sequence[Case], show: bool) -> Iterator[tuple[Case, bool, bool]]:
    """For each case whether its two statements stand in the right order, and whether the right one is among the first three."""
    for case in asked:
        texts = [hit.text for hit in memory.search(case.question, k=50, project=PROJECT)]
        place = {text: texts.index(text) if text in texts else len(texts) for text in (case.older, case.newer)}
        wanted, other = (case.newer, case.older) if case.kind == "now" else (case.older, case.newer)
        right = place[wanted] < place[other] or (place[wanted] == place[other] and case.kind != "now")
        if show and not (right and place[wanted] < 3):
            print(case.kind, case.number, case.question, place[wanted], place[other], file=sys.stderr)
        yield case, right, place[wanted] < 3


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--half", choices=("even", "odd", "both"), default="both", help="which cases are asked; all are told")
    given.add_argument("--show", action="store_true", help="say which went wrong")
    options = given.parse_args()
    every = cases()
    asked = [case for case in every if options.half == "both" or (case.number % 2 == 0) == (options.half == "even")]
    with tempfile.TemporaryDirectory(prefix="updates-") as folder, Memory.open(home=Path(folder) / "home") as memory:
        told(memory, every)
        found = list(judged(memory, asked, options.show))
    print(json.dumps({f"{kind}_{half}": _figures([each for each in found if each[0].kind == kind and _half(each[0]) == half])
                      for kind in ("now", "past", "lookalikes") for half in ("even", "odd")
                      if options.half in (half, "both")}))  # fmt: skip


def _half(case: Case) -> str:
    return "odd" if case.number % 2 else "even"


def _figures(found: Sequence[tuple[Case, bool, bool]]) -> dict[str, float]:
    return {
        "n": len(found), "right": round(100 * sum(each[1] for each in found) / len(found), 1),
        "in_three": round(100 * sum(each[2] for each in found) / len(found), 1),
    }  # fmt: skip


if __name__ == "__main__":
    main()
