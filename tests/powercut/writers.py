"""A directory on a disk that will lose power -> the product at work there, saying what it was told is safe.

Run as a program, one process per writer: `writers.py <name> <arguments>`. Each operation that returned is said as one
line of JSON. No writer ends by itself: it goes on until the disk fails it. What is written depends on seed and number
alone, so that the judge (judges.py) knows what to look for.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

from hindbrain.base.clock import SystemClock
from hindbrain.base.files import ensure_private_dir, replace_file, sync_directory
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.journal.append import append_to, open_journal
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.line import HOOK, frame
from hindbrain.journal.read import segment_name, segments

# least and most bytes of what is written; a few of the longest lines fill a segment
LINE_BYTES = (100, 1_500_000)
SEGMENT_BYTES = (1, 300_000)
PAGE_BYTES = (1, 20_000)
PAGES = 4
HOOKS_AT_ONCE = 4
_WIKI_START = 1_772_440_000_000


def say(*what: Any) -> None:
    """One write, so that lines of several threads do not mix."""
    os.write(1, json.dumps(what).encode() + b"\n")


def blob(seed: int, number: int, least: int, most: int) -> bytes:
    """Some bytes that are this number's own, with newlines and all, and say so in front."""
    chance = random.Random(f"{seed} {number}")
    return b"%d " % number + chance.randbytes(chance.randint(least, most))


def prompt(seed: int, number: int) -> dict[str, str]:
    """What an agent hands its hook when the user says something."""
    words = random.Random(f"{seed} {number}").choices(["disk", "cable", "lamp", "storm", "river", "stone"], k=40)
    return {
        "prompt": f"prompt {number} of {seed}: {' '.join(words)}", "session_id": f"session-{seed}",
        "hook_event_name": "UserPromptSubmit", "cwd": "/nowhere/at/all",
    }  # fmt: skip


def prompt_json(seed: int, number: int) -> bytes:
    return json.dumps(prompt(seed, number)).encode()


def prompt_line(seed: int, number: int) -> bytes:
    return frame(HOOK, b"claude-code", time.time_ns(), prompt_json(seed, number))


def journal(root: Path, seed: int, writers: int) -> None:
    """Lines of up to 1.5 MB, so that a segment is full after a few; more than one process may do it."""
    ours = 0
    while ours < writers - 1 and os.fork():
        ours += 1
    open_at = open_journal(os.fsencode(root / "home"))
    for number in count(ours, writers):
        append_to(open_at, frame(HOOK, b"test", time.time_ns(), blob(seed, number, *LINE_BYTES)))
        say("kept", number)


def pages(root: Path, seed: int, machine: str = "") -> None:
    """New files and new versions of old ones, in turn, on a busy machine or a quiet one with time between two pages."""
    place = ensure_private_dir(root / "pages")
    busy = (machine or random.Random(seed).choice(["busy", "quiet"])) == "busy"
    if busy and os.fork() == 0:
        others(root)
    for number in count():
        name = f"new-{number}" if number % 2 else f"old-{number // 2 % PAGES}"
        replace_file(place / name, blob(seed, number, *PAGE_BYTES))
        say("replaced", name, number)
        if not busy:
            time.sleep(0.02)


def others(root: Path) -> None:
    """The rest of the machine: it syncs files of its own, and that carries some of ours along and some not."""
    with (root / "unrelated").open("wb") as file:
        while True:
            file.write(b"x" * 512)
            file.flush()
            os.fsync(file.fileno())


def archive(root: Path, seed: int) -> None:
    """Segments of a few lines, made as the journal makes them, then archived two at a time."""
    home = Home(root / "home")
    ensure_private_dir(home.journal)
    for number in count(1):
        _make_segment(home.journal, seed, number)
        say("kept", number)
        if number % 2:
            continue
        stored = {segment_name(path): path.stat().st_size for path in segments(home.journal)}
        for name in archive_stored(home.journal, home.archive, stored, keep=0):
            say("archived", name)


def _make_segment(place: Path, seed: int, number: int) -> None:
    path = place / f"{number:010d}-{time.time_ns():x}-{os.getpid()}.log"
    with path.open("xb") as file:
        file.write(frame(HOOK, b"test", time.time_ns(), blob(seed, number, *SEGMENT_BYTES)))
        file.flush()
        os.fsync(file.fileno())
    sync_directory(place)


def ledger(root: Path, seed: int) -> None:
    """The worker's own pass: a few prompts into the journal, then all of it into the ledger."""
    from hindbrain.ledger.store import Ledger
    from hindbrain.serve.drain import Drain

    home, clock = Home(root / "home"), SystemClock()
    open_at = open_journal(os.fsencode(home.root))
    chance = random.Random(seed)
    number = 0
    with Ledger.open(home.ledger, clock) as store:
        drain = Drain(home, store, clock, [])
        while True:
            for _ in range(chance.randint(1, 8)):
                append_to(open_at, prompt_line(seed, number))
                say("kept", number)
                number += 1
            drain.run()
            say("stored", number - 1)


def migration(root: Path, seed: int) -> None:
    """One fresh home after another gets its ledger."""
    from hindbrain.ledger.store import Ledger

    for number in count():
        home = Home(root / f"home-{number}")
        ensure_private_dir(home.root)
        Ledger.open(home.ledger, SystemClock()).close()
        say("migrated", number)


def backup(root: Path, seed: int) -> None:
    """Backups of a home that is being written to."""
    from hindbrain.ledger.store import Ledger
    from hindbrain.serve.backup import create
    from hindbrain.serve.drain import Drain

    home, clock = Home(root / "home"), SystemClock()
    open_at = open_journal(os.fsencode(home.root))
    ensure_private_dir(root / "backups")
    with Ledger.open(home.ledger, clock) as store:
        drain = Drain(home, store, clock, [])
        for number in count():
            append_to(open_at, prompt_line(seed, number))
            say("kept", number)
            drain.run()
            say("stored", number)
            create(home, root / "backups" / f"{number}.tar.gz", clock, lambda name: None)
            say("backed up", number)


def wiki(root: Path, seed: int, history: str = "") -> None:
    """A wiki that is compiled again and again, each time with something to write, to change and to take away."""
    git = (history or random.Random(seed).choice(["git", "kept"])) == "git"
    for number in count():
        wiki_compile(root / "wiki", seed, number, git=git)
        say("compiled", number)


def wiki_compile(place: Path, seed: int, number: int, *, git: bool) -> Any:
    """The wiki of so many sayings; what people did is not to be found in it, for nobody did anything."""
    from hindbrain.wiki.compile import Options, compile
    from hindbrain.wiki.folder import Folder
    from hindbrain.wiki.state import State

    program = shutil.which("git") if git else None
    folder = Folder(place, Path(program) if program else None)
    material = wiki_material(seed, number)
    with State.open(folder) as state:
        return compile(folder, state, material, Options(), _no_acts, _WIKI_START + number * 60_000, refresh=lambda: material)


def _no_acts(acts: Any) -> None:
    raise AssertionError(f"our own text was taken for a person's: {acts}")


def wiki_material(seed: int, number: int) -> Any:
    """The last twelve of so many sayings."""
    from hindbrain.wiki.page import Fact, Material, Sitting, Source

    facts = {}
    for each in range(max(0, number - 12), number + 3):
        one, other = random.Random(f"{seed} {each}").sample(["Redis", "Kafka", "nginx", "PostgreSQL", "Docker", "Terraform"], 2)
        at = _WIKI_START + each * 1000
        said = Source(f"e_{each:024x}", f"s_{each // 4:024x}", "claude-code", at, "user")
        facts[f"m_{each:024x}"] = Fact(
            f"m_{each:024x}", "derived", "fact", f"{one} asks {other} for value {each}.", 0.8, "user", "project", "p_1", at, None,
            None, False, sources=(said,),
        )  # fmt: skip
    sittings = {}
    for session in {said.session for fact in facts.values() for said in fact.sources}:
        held = tuple(key for key, fact in facts.items() if fact.sources[0].session == session)
        began = facts[held[0]].valid_from
        sittings[session] = Sitting(session, "claude-code", "p_1", "main", began, began + 1000, "Work.", "", (), held)
    return Material(facts, dict(sorted(sittings.items())), {"p_1": "api-server"}, "")


def rows(root: Path, seed: int, level: str) -> None:
    """A bare SQLite table, one row to a transaction, with the `synchronous` level given."""
    connection = sqlite3.connect(root / "rows.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {level}")
    # a checkpoint syncs too and would hide the difference for a while
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, text TEXT)")
    sync_directory(root)
    for number in count():
        connection.execute("INSERT INTO kept VALUES (?, ?)", (number, prompt(seed, number)["prompt"]))
        say("kept", number)


def hooks(root: Path, seed: int, outside: str, *tracer: str) -> None:
    """The installed hook, four at a time, with a pipe that a worker seems to read."""
    home = root / "home"
    command = [*tracer, *install_launcher(home), "claude-code"]
    os.mkfifo(home / "wake", 0o600)
    os.open(home / "wake", os.O_RDONLY | os.O_NONBLOCK)
    _run_hooks(command, home, seed, Path(outside))


def first_hooks(root: Path, seed: int, outside: str) -> None:
    """The same on a machine that never ran one: no home, no journal, and no worker, so that they start the real one."""
    command = [*install_launcher(Path(outside) / "installed"), "claude-code"]
    _run_hooks(command, root / "data" / "of" / "home", seed, Path(outside))


def _run_hooks(command: list[str], home: Path, seed: int, outside: Path) -> None:
    numbers = count()
    threads = [Thread(target=_run_some, args=(command, home, seed, outside, numbers)) for _ in range(HOOKS_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _run_some(command: list[str], home: Path, seed: int, outside: Path, numbers: Iterator[int]) -> None:
    for number in numbers:
        # A hook that cannot count its loss in home counts it here, where we can tell whose it is.
        user = outside / f"user-{number}"
        user.mkdir()
        environ = {"HOME": str(user), "HINDBRAIN_HOME": str(home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            command, input=prompt_json(seed, number), capture_output=True, env=environ, check=False
        )
        if done.returncode or done.stdout:
            say("disturbed", number, done.returncode, done.stdout.decode("utf-8", "replace"))
        elif list(user.glob(".hindbrain-lost-*")) or done.stderr:
            return  # it says so itself: not kept
        else:
            say("kept", number)


PROGRAMS: dict[str, Callable[..., None]] = {
    each.__name__: each for each in (journal, pages, archive, ledger, migration, backup, wiki, rows, hooks, first_hooks)
}

if __name__ == "__main__":
    name, root, *rest = sys.argv[1:]
    PROGRAMS[name](Path(root), *(int(each) if each.isdigit() else each for each in rest))
