"""Questions of LongMemEval whose answer changed -> is the newest value recalled first, and is the old one marked as old.

    python -m bench.knowledge_updates [--limit N] [--show]

Each question has a home of its own with 48 sessions, filled and settled through the public library, so that reasoning has done
its work. `newest_first`: of the sessions that hold an answer the newest is found first. `stale_marked`: where an older answer is
among the first ten, it is said to be old, by `superseded` or by a note on the later change; `stale_found` says in how many
questions there is one. Only questions about the present are asked; how things were before is another question.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.conversations import DATA, LONGMEMEVAL, Question, count, missing, store
from bench.homes import remembered
from hindbrain import Hit

PROCESSES = int(os.environ.get("PROCESSES", "2"))
SET, FIRST = "r48", 10
LATER_CHANGE: Final = "said before"


class Answered(NamedTuple):
    """What came of one question; no mark where no stale answer was found."""

    question: str
    newest_first: bool
    stale_marked: bool | None


def answered(number: int) -> Answered:
    kept = store(SET, number)
    [question] = kept.questions
    with remembered(kept) as memory:
        hits = memory.search(question.text, k=100, project=kept.project)
    return Answered(question.text, newest_first(question, hits), stale_marked(question, hits[:FIRST]))


def newest_first(question: Question, hits: Sequence[Hit]) -> bool:
    return next((session for session in map(session_of, hits) if session in question.sessions), "") == question.newest


def stale_marked(question: Question, hits: Sequence[Hit]) -> bool | None:
    """Whether each older answer among the hits says that it is old; None where there is none among them."""
    stale = [hit for hit in hits if question.gold.intersection(hit.keys) and session_of(hit) != question.newest]
    return all(hit.superseded or LATER_CHANGE in hit.note for hit in stale) if stale else None


def session_of(hit: Hit) -> str:
    return hit.keys[0].rsplit("#", 1)[0] if hit.keys else ""


def changed() -> list[int]:
    """The numbers of the questions whose answer changed and that ask for the present."""
    return [number for number in range(count(SET)) if store(SET, number).questions[0].newest]


def figures(found: Sequence[Answered]) -> dict[str, float | None]:
    marks = [each.stale_marked for each in found if each.stale_marked is not None]
    return {
        "newest_first": round(sum(each.newest_first for each in found) / len(found), 4) if found else None,
        "stale_marked": round(sum(marks) / len(marks), 4) if marks else None, "stale_found": len(marks), "n": len(found),
    }  # fmt: skip


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--limit", type=int, default=0, help="only so many questions")
    given.add_argument("--show", action="store_true", help="say which went wrong")
    options = given.parse_args()
    if LONGMEMEVAL in missing():
        print(f"nothing was measured: {LONGMEMEVAL} not found in {DATA}", file=sys.stderr)
        print(json.dumps({"not_run": f"{LONGMEMEVAL} not found"}))
        return
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        found = pool.map(answered, changed()[: options.limit or None], chunksize=1)
    for each in found if options.show else ():
        if not each.newest_first or each.stale_marked is False:
            print(f"newest first {each.newest_first}, stale marked {each.stale_marked}: {each.question}", file=sys.stderr)
    print(json.dumps(figures(found)))


if __name__ == "__main__":
    main()
