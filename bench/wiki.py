"""A made-up ledger of 2,000 topics -> how long its wiki takes to compile, to compile again after one change, and to lint.

Every statement names its topic and some speak of two others, so that each page has five links and more; each page gets its file,
all are synced, and every compile is a commit where git is there. One change is another wording of one statement. The pages are
then linted with everything the ledger knows, and once more at twice their number.

    python bench/wiki.py [--pages 2000]

The last line is JSON: pages, links_per_page, compile_s, recompile_one_changed_s (the median of several), recompile_share (the bar
is 0.03), recompile_nothing_s, lint_s, lint_2x_ratio (the bar is 2.3).
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hindbrain.serve.daemon import collect_rarely
from hindbrain.wiki import lint
from hindbrain.wiki.compile import Compiled, Options, compile
from hindbrain.wiki.draft import Drawn
from hindbrain.wiki.edits import Act
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.page import Fact, Material, Sitting, Source
from hindbrain.wiki.state import State

START: Final = 1_772_440_000_000
MINUTE: Final = 60_000
PROJECTS: Final = 20
TEXTS: Final = (
    ("fact", "`{a}` retries three times before it gives up"),
    ("fact", "`{a}` reads what `{b}` has written"),
    ("fact", "Calls of `{a}` go through `{c}`"),
    ("decision", "We decided that `{a}` keeps its state on the disk"),
)
SAID_IN_A_SESSION: Final = 40
CHANGES: Final = 7
ROUNDS: Final = 4
LATER: Final = 4.0  # seconds: a change comes long after the pages were written, when files that nobody touched need no reading
SHARE_BAR: Final = 0.03
RATIO_BAR: Final = 2.3


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2000, help="how many topics")
    told = parser.parse_args()
    collect_rarely()  # as the worker does
    found = measured(told.pages)
    share, ratio = found["recompile_share"], found["lint_2x_ratio"]
    print(f"compile    {found['compile_s']:8.2f} s for {found['pages']} pages of {found['links_per_page']} links")
    print(f"one change {found['recompile_one_changed_s']:8.3f} s, {share:.1%} of it ({_met(share, SHARE_BAR)})")
    print(f"nothing    {found['recompile_nothing_s']:8.3f} s")
    print(f"lint       {found['lint_s']:8.2f} s; twice the pages take {ratio} times as long ({_met(ratio, RATIO_BAR)})")
    print(json.dumps(found))
    return 0


def _met(value: float, bar: float) -> str:
    return f"bar {bar}: {'met' if value <= bar else 'NOT met'}"


def measured(pages: int) -> dict[str, float]:
    """Everything, each in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        bench, twice = Bench(Path(place) / "one", pages), Bench(Path(place) / "two", pages * 2)
        full = bench.timed()
        bench.timed()
        time.sleep(LATER)
        nothing = [bench.timed() for _ in range(CHANGES)]
        changed = [bench.changed(number) for number in range(CHANGES)]
        twice.timed()
        one, two = linted([bench, twice])
        links = bench.links_per_page()
    again = statistics.median(changed)
    return {
        "pages": bench.count, "links_per_page": links, "compile_s": round(full, 3), "recompile_one_changed_s": round(again, 4),
        "recompile_share": round(again / full, 4), "recompile_nothing_s": round(statistics.median(nothing), 4),
        "lint_s": round(one, 3), "lint_2x_ratio": round(two / one, 2),
    }  # fmt: skip


def linted(benches: Sequence[Bench]) -> list[float]:
    """Seconds of the processor to lint each: the best of several rounds in which they take turns."""
    work = [bench.lint() for bench in benches]
    rounds = [[_timed(each) for each in work] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


class Bench:
    """One wiki."""

    def __init__(self, root: Path, topics: int) -> None:
        git = shutil.which("git")
        self.folder = Folder(root, None if git is None else Path(git))
        self.folder.prepare()
        self.state = State.open(self.folder)
        self.material = made(topics)
        self.now = START + len(self.material.facts) * MINUTE
        self.drawn: Drawn | None = None
        self.count = 0

    def timed(self) -> float:
        """Seconds of a compile."""
        self.now += MINUTE
        begun = time.perf_counter()
        done = self._compiled()
        seconds = time.perf_counter() - begun
        self.drawn, self.count = done.drawn, len(done.written) + done.unchanged
        return seconds

    def _compiled(self) -> Compiled:
        material = self.material
        return compile(
            self.folder, self.state, material, Options(), _no_edits, self.now, refresh=lambda: material, before=self.drawn
        )

    def changed(self, number: int) -> float:
        """Seconds after one statement was said in other words."""
        fact = [*self.material.facts.values()][number * 97 % len(self.material.facts)]
        other = replace(fact, text=fact.text.replace("three times", "five times") + f", as of change {number}")
        self.material = replace(self.material, facts={**self.material.facts, fact.id: other})
        return self.timed()

    def texts(self) -> dict[str, str]:
        return {path: file.text for path in self.folder.files() if (file := self.folder.read(path)) is not None}

    def links_per_page(self) -> float:
        texts = self.texts()
        return round(sum(text.count("[[") for path, text in texts.items() if path.startswith("concepts/")) / len(texts), 1)

    def lint(self) -> Callable[[], object]:
        """Looks at all pages once, when it is called."""
        texts = self.texts()
        compiled = {row.path: lint.fingerprint(row.base) for row in self.state.pages() if row.base is not None}
        known = lint.Knowledge.of(self.material, compiled)
        return lambda: lint.findings(texts, known)


def _timed(work: Callable[[], object]) -> float:
    """Of the processor: nothing is waited for, and what else the machine does is nobody's fault here."""
    gc.collect()
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _no_edits(acts: Sequence[Act]) -> None:
    if acts:
        raise AssertionError(f"our own pages were taken for edits: {acts[:3]}")


def made(topics: int) -> Material:
    """Statements about so many topics of twenty projects, and the sessions they were said in."""
    facts: dict[str, Fact] = {}
    said: dict[str, list[Fact]] = {}
    for topic in range(topics):
        near = {name: f"handler_{(topic + step * PROJECTS) % topics:05d}" for name, step in (("a", 0), ("b", 1), ("c", 7))}
        for kind, text in TEXTS:
            number = len(facts)
            project, at = f"p_{topic % PROJECTS}", START + number * MINUTE
            session = f"s_{number // (SAID_IN_A_SESSION * PROJECTS):06x}{topic % PROJECTS:02x}{0:016x}"
            source = Source(f"e_{number:024x}", session, "claude-code", at, "user")
            fact = Fact(
                f"m_{number:024x}", "derived", kind, text.format(**near), 0.8, "user", "project", project, at, None, None, False,
                sources=(source,),
            )  # fmt: skip
            facts[fact.id] = fact
            said.setdefault(session, []).append(fact)
    sittings = {
        session: Sitting(
            session, "claude-code", of[0].project, "main", of[0].valid_from, of[-1].valid_from, "", "",
            ((of[0].sources[0].turn, of[0].text),), tuple(fact.id for fact in of),
        )
        for session, of in said.items()
    }  # fmt: skip
    return Material(facts, sittings, {f"p_{number}": f"project-{number}" for number in range(PROJECTS)}, "")


if __name__ == "__main__":
    raise SystemExit(main())
