"""Labelled sessions -> how well reasoning without a model finds what is worth keeping, and what it makes of it.

    python -m bench.reason [--part tune|more|wide|held|FOLDER] [--whole] [--by-kind] [--misses] [--story NAME]

The functions by themselves, with the relations asked of the labels' own words; with `--whole` these stand under "pure", and above
them what comes of the whole way: every session of a story is recorded through the public library, and what stands in the home
afterwards is judged, of two statements that belong together only where both were found. What a figure means is told in
`bench/judging.py`. The last line is one JSON object. The held part is run and counted; what is missed there is shown to nobody,
for whoever sees it tunes on it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.judging import Found, Judged, by_kind, coverage, figures, judge, misses, relations, share
from bench.labels import CORPUS, PARTS, Pair, Story, stories
from bench.pairs import asked, unlabelled
from bench.peers.report import write
from hindbrain.ledger.statement import Statement

ASKED: Final = (
    "extract_precision", "extract_recall", "kind_accuracy", "supersede_accuracy", "contradiction_accuracy", "junk_rate",
    "untrusted_promoted", "digest_coverage",
)  # fmt: skip
Figures = dict[str, Any]


def extracted(read: Sequence[Story]) -> tuple[Judged, dict[str, list[Statement]]]:
    """Every session through the rules."""
    from hindbrain.reason.extract import extract

    judged, kept = Judged(), {}
    for session in (session for story in read for session in story.sessions):
        kept[session.name] = extract(session.turns)
        judged.add(judge(session, [finding(each) for each in kept[session.name]]))
    return judged, kept


def finding(statement: Statement) -> Found:
    return Found(statement.id, statement.kind, statement.text, statement.turns, bool(statement.quarantine))


def related(read: Sequence[Story]) -> list[tuple[Pair, str]]:
    """What is said of every labelled pair, asked of the labels' own words."""
    relation = asked()
    return [(pair, relation(pair)) for story in read for pair in story.pairs]


def digested(read: Sequence[Story], kept: dict[str, list[Statement]]) -> Figures:
    from hindbrain.reason.digest import digest

    counted, words, said = [], 0, 0
    for session in (session for story in read for session in story.sessions):
        made = digest(session.turns, [each for each in kept[session.name] if not each.quarantine])
        counted.append(coverage(session.digest, f"{made.short}\n{made.long}"))
        words += len(made.long.split())
        said += sum(len(turn.text.split()) for turn in session.turns)
    # a digest that repeats everything mentions everything
    return {**mentioned(counted), "digest_words": round(words / max(1, len(counted))), "digest_share": share(words, said)}


def mentioned(counted: Sequence[tuple[int, int]]) -> Figures:
    return {"digest_coverage": share(sum(hit for hit, _ in counted), sum(of for _, of in counted))}


def pure(read: Sequence[Story], *, kinds: bool = False, show: bool = False) -> Figures:
    """The functions by themselves."""
    judged, kept = extracted(read)
    pairs = related(read)
    strays = [stray for story in read for stray in unlabelled(story, kept)]
    if show:
        print_misses(read, judged, pairs)
        for said, old, new in strays:
            print(f"STRAY    {new.turns[0]} {new.text!r} {said} {old.turns[0]} {old.text!r}", file=sys.stderr)
    more = {f"{name}_unlabelled": sum(said == name for said, _, _ in strays) for name in ("supersedes", "contradicts")}
    kinds_too = {"by_kind": by_kind(judged)} if kinds else {}
    return {**figures(judged), **relations(pairs), **more, **digested(read, kept), **kinds_too}


def whole(read: Sequence[Story], *, kinds: bool = False, show: bool = False) -> Figures:
    """All the way: record, settle, and look at what stands."""
    from bench.reasoned import judged, kept, strange, told

    total, pairs, digests = Judged(), list[tuple[Pair, str]](), list[tuple[int, int]]()
    replaced, unlabelled = 0, list[tuple[Found, Found]]()
    for story in read:
        with told(story) as (_, home):
            stands = kept(home)
        found, related_there, mentioned_there = judged(story, stands)
        total.add(found)
        pairs += related_there
        digests += mentioned_there
        replaced += len(stands.superseded_by)
        unlabelled += strange(story, stands)
    if show:
        print_misses(read, total, pairs)
        for old, new in unlabelled:
            print(f"REPLACED {old.turns[0]} {old.text!r} by {new.turns[0]} {new.text!r}", file=sys.stderr)
    return {
        **figures(total), **relations(pairs), **mentioned(digests), "replaced": replaced, "replaced_unlabelled": len(unlabelled),
        **({"by_kind": by_kind(total)} if kinds else {}),
    }  # fmt: skip


def print_misses(read: Sequence[Story], judged: Judged, pairs: Sequence[tuple[Pair, str]]) -> None:
    texts = {turn.id: turn.text for story in read for session in story.sessions for turn in session.turns}
    for line in misses(judged, texts):
        print(line, file=sys.stderr)
    for pair, said in pairs:
        if said != pair.type and pair.type != "reinforces":
            print(f"PAIR     {pair.type or 'unrelated'}, told {said or 'nothing'}: {pair.old.id} {pair.old.quote!r} -> "
                  f"{pair.new.id} {pair.new.quote!r}", file=sys.stderr)  # fmt: skip


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--part", choices=(*PARTS, *sorted(each.name for each in CORPUS.glob("tune_*"))), default="held",
                       help="which stories: all to be looked at, the held ones, or one folder of them")  # fmt: skip
    given.add_argument("--whole", action="store_true", help="all the way through a home, not the functions alone")
    given.add_argument("--write", action="store_true", help="with --whole: put the table into docs/benchmarks.md")
    given.add_argument("--by-kind", action="store_true", help="precision and recall of each kind")
    given.add_argument("--misses", action="store_true", help="say what went wrong, a line each")
    given.add_argument("--story", action="append", help="only this one")
    options = given.parse_args()
    if options.part == "held" and (options.misses or options.story):
        given.error("what is missed in the held part is not shown: whoever sees it tunes on it")
    read = [story for story in stories(options.part) if not options.story or story.name in options.story]
    functions = pure(read, kinds=options.by_kind and not options.whole, show=options.misses and not options.whole)
    if not options.whole:
        print(json.dumps(functions))
        return
    told = whole(read, kinds=options.by_kind, show=options.misses)
    top = {name: told.pop(name) for name in ASKED}
    if options.write:
        write("reason", table(top, told, functions))
    print(json.dumps({**top, "counted": told, "pure": functions}))


def table(top: Figures, counted: Figures, functions: Figures) -> str:
    """In Markdown: the whole way beside the functions by themselves."""
    names = [*ASKED, "kind_accuracy_lenient", "supersede_seen", "contradiction_seen", "found", "required", "pairs"]
    rows = ["| | the whole way | the functions by themselves |", "|---|---|---|"]
    return "\n".join(rows + [f"| {name} | {top.get(name, counted.get(name))} | {functions.get(name)} |" for name in names])


if __name__ == "__main__":
    main()
