"""Long replies beside short statements -> whether looking at neighbours and comparing word by word do harm there.

Both roles of LongMemEval are recorded, answers stand in what the user said, replies are thousands of letters long: once with 48
sessions a question, once with all sessions in one home. NDCG of sessions and of turns must not lie below plain full-text search
and dense vectors of whole turns added up. Prints a table in Markdown; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.conversations import DATA, missing
from bench.quality import DENSE, PLAIN, SHOWN, run_all, scores_of, table, tasks
from bench.scoring import per_cent
from bench.variants import EVERYTHING

NAMES = ("long48", "longpool")
TRIED = (EVERYTHING, "without neighbours", "without tokens")


def main() -> None:
    parser = argparse.ArgumentParser(description="Long messages.")
    parser.add_argument("--limit", type=int, default=int(os.environ.get("LIMIT", "0")), help="questions, for a quick look")
    args = parser.parse_args()
    if absent := missing():
        print(f"nothing was measured: {' and '.join(absent)} not found in {DATA}", file=sys.stderr)
        print(json.dumps({"not_run": f"{' and '.join(absent)} not found"}))
        return
    told = list(run_all(tasks(NAMES, args.limit, TRIED, blocks=False)))
    rankings = (*TRIED, DENSE, PLAIN)
    print(table(told, NAMES, rankings))
    figures = {name: {which: per_cent(scores_of(told, name, which), SHOWN[name]) for which in rankings} for name in NAMES}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
