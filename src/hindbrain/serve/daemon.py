"""The worker: one process per home that keeps ledger and journal together, and leaves when there is nothing to do.

This is the only place where the stages are put together. The worker holds an flock for as long as it lives, so there are
never two, and its death frees it however it dies. It listens on a pipe (`wake`), not on a port; hooks write a byte to it. It
starts no processes of its own but the command line agent that is configured as a model, and ends that one when it leaves.

Leaving without losing a call: the pipe is closed first, then the journal is looked at once more. A hook that came before the
closing is seen by that look; one that comes after finds no reader and starts the next worker, which waits for the lock.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import logging.handlers
import os
import select
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError, LedgerBusy, StorageError, WorkerRunning
from hindbrain.base.files import Lock, ensure_private_dir, lock_holder, lock_said, open_private
from hindbrain.base.home import Home
from hindbrain.base.redact import redact_text
from hindbrain.journal import losses
from hindbrain.ledger.store import Ledger
from hindbrain.serve import inbox
from hindbrain.serve.asking import Asking
from hindbrain.serve.drain import Drain, Drained, default_roots
from hindbrain.serve.embedding_part import EmbeddingPart
from hindbrain.serve.recalling import Recalling
from hindbrain.serve.using import note_uses
from hindbrain.serve.work import Work

if TYPE_CHECKING:
    from hindbrain.serve.sharer import SharedPart

log = logging.getLogger("hindbrain.worker")

# Calls come in bursts; taking them in together saves a sync per call on the disk the hooks are syncing to.
GATHER_SECONDS: Final = 0.2
# A worker started by a hook while another is leaving waits this long for its lock.
TAKE_OVER_SECONDS: Final = 5.0
# Whoever asks who holds the lock has to touch it for an instant; a starting worker must not take that for another worker.
LOOK_SECONDS: Final = 0.5
ROLE: Final = "worker"  # what a worker writes into its lock behind its pid
RETRY_SECONDS: Final = (1.0, 2.0, 5.0, 15.0, 60.0)
_ARENA_MAX: Final = -8  # glibc's numbers for mallopt
_TRIM_THRESHOLD: Final = -1
_LOG_BYTES: Final = 1 << 20


class Worker:
    """Owns the lock, the pipe and the loop."""

    def __init__(
        self, config: Config, clock: Clock | None = None, work: Callable[[Config, Clock], Work] = Work
    ) -> None:
        self._config = config
        self._home = Home(config.home)
        self._clock = clock or SystemClock()
        self._make_work = work
        self._jobs: Work | None = None
        self._shared: SharedPart | None = None
        self._recalling = Recalling(config, self._clock, hurried=True)
        self._embedding: EmbeddingPart | None = None
        self._stopping = False
        self._is_up = False
        self._told: Callable[[], None] = lambda: None
        self._pipe = -1
        self._bell = -1  # our own writing end: keeps the pipe from reporting an end, and wakes us from a signal

    def run(self, *, wait_for_lock: float = LOOK_SECONDS) -> None:
        """Work until idle or told to stop. Raises WorkerRunning when another worker serves this home."""
        os.umask(0o077)  # for files that libraries make on their own: rotated logs, the database's side files
        ensure_private_dir(self._home.root)
        lock = Lock(self._home.worker_lock)
        if not lock.acquire(timeout=wait_for_lock):
            pid = lock_holder(self._home.worker_lock)
            raise WorkerRunning(f"a worker already serves {self._home.root}: pid {pid}", pid=pid)
        try:
            lock.write(f"{os.getpid()} {ROLE}\n")
            losses.prepare(os.fsencode(self._home.root))
            with _logging(self._home, self._config.log_level):
                self._serve_or_say_why()
        finally:
            self._close_pipe()
            lock.release()

    def _serve_or_say_why(self) -> None:
        """A worker that a hook started has no terminal: why it ended must be in the log, where `status` finds it."""
        try:
            self._serve()
        except Exception as error:
            log.exception("worker %d ends: %s", os.getpid(), str(error).replace("\n", "; "))
            raise

    def _serve(self) -> None:
        collect_rarely()
        one_thread_for_numbers()
        one_heap()
        self._on_signals()
        self._open_pipe()
        inbox.prepare(self._home)
        log.info("worker %d serves %s", os.getpid(), self._home.root)
        try:
            self._work_until_done()
        finally:
            for part in (self._embedding, self._shared):
                if part is not None:
                    part.close()
            if self._jobs is not None:
                self._jobs.stop()
        log.info("worker %d leaves", os.getpid())

    def _work_until_done(self) -> None:
        failures = 0
        while not self._stopping:
            try:
                if self._work():
                    break
                failures = 0
            except (HindbrainError, OSError) as error:
                # Nothing is lost while we wait: the journal keeps what was not taken in. The ledger is opened anew, because
                # after a storage error it takes no writes before it has been checked.
                self._wait(_delay(failures, error))
                failures += 1

    def _work(self) -> bool:
        """Open the ledger and work; True when there was nothing more to do for long enough."""
        with Ledger.open(self._home.ledger, self._clock) as ledger:
            if self._home.forgetting.exists():
                from hindbrain.serve.forgetting import finish

                # a wish to forget that was cut off half-way
                finish(self._home, ledger, self._clock, keeps_jobs=not self._config.is_shared)
            roots = [*default_roots(), *self._config.transcript_roots]
            drain = Drain(self._home, ledger, self._clock, roots, keeps_jobs=not self._config.is_shared)
            self._begin_sharing()
            asking = self._asking()
            if asking.open():
                asking.start()
            self._told = lambda: _write_down(asking, ledger)
            self._begin_jobs()
            self._begin_embedding()
            try:
                drain.replay_archives(Drained())
                if self._config.catch_up:
                    drain.catch_up(Drained())
                self._wake_embedding()
                return self._loop(drain)
            finally:
                asking.close()
                self._told()
                drain.close()

    def _begin_jobs(self) -> None:
        """Once there is a ledger; a pass that fails does not disturb them."""
        if self._jobs is None:
            self._jobs = self._make_work(self._config, self._clock)
            self._jobs.start()

    def _wake_jobs(self) -> None:
        if self._jobs is not None:
            self._jobs.wake()

    def _asking(self) -> Asking:
        build = self._recalling.build
        if self._shared is None:
            return Asking(self._home, self._clock, build=build)
        return Asking(self._home, self._clock, self._shared.warm, self._shared.trouble, build)

    def _begin_embedding(self) -> None:
        """Where something makes vectors; it has a thread of its own, and a pass that fails does not disturb it."""
        if self._embedding is None and self._config.embedder != "none":
            self._embedding = EmbeddingPart(self._config, self._clock, self._recalling)
            self._embedding.start()

    def _wake_embedding(self) -> None:
        if self._embedding is not None:
            self._embedding.wake()

    def _begin_sharing(self) -> None:
        """Where a ledger is shared; it has threads of its own, and a pass that fails does not disturb them."""
        if self._shared is None and self._config.is_shared:
            from hindbrain.serve.sharer import SharedPart  # loads the driver

            self._shared = SharedPart(self._config, self._clock, self._ring, self._wake_after_sharing)
            self._shared.start()

    def _wake_after_sharing(self) -> None:
        """The shared ledger took lines in: it has jobs that follow, and texts that wait for vectors."""
        self._wake_jobs()
        self._wake_embedding()

    def _wake_sharing(self) -> None:
        if self._shared is not None:
            self._shared.wake()

    def _ring(self) -> None:
        """Wake the loop from another thread."""
        with contextlib.suppress(OSError):  # it is just leaving, or the pipe is full of such calls
            os.write(self._bell, b"\n")

    def _stay(self) -> float:
        """How long jobs, sharing and embedding want us to stay."""
        return max(0.0 if part is None else part.stay() for part in (self._jobs, self._shared, self._embedding))

    def _loop(self, drain: Drain) -> bool:
        last_work = self._clock.elapsed()
        while not self._stopping:
            if self._home.forgetting.exists():
                return False  # another machine's wish to forget: it is carried out before anything else
            if self._pass(drain):
                last_work = self._clock.elapsed()
            self._came_up()
            idle = self._config.worker_idle_seconds - (self._clock.elapsed() - last_work)
            if idle <= 0 and self._jobs is not None:
                self._jobs.hurry()
            idle = max(idle, self._stay())
            if idle <= 0:
                if self._leave(drain):
                    return True
                last_work = self._clock.elapsed()
                continue
            due = drain.next_due()
            if self._wait(idle if due is None else min(idle, due)):
                last_work = self._clock.elapsed()
                self._gather()
                self._wake_jobs()
        return True

    def _pass(self, drain: Drain) -> bool:
        done = drain.run()
        self._told()
        if done.records:
            self._wake_jobs()
            self._wake_sharing()
            self._wake_embedding()
            log.info("stored %d lines, %d new turns, %d from transcripts", done.records, done.turns_new, done.followed)
            for name in drain.archive(self._config.keep_segments):
                log.info("archived segment %s", name)
        return done.records > 0

    def _came_up(self) -> None:
        """After the first whole pass: whoever finds this worker dead may start the next at once, it is not one that cannot."""
        if not self._is_up:
            with contextlib.suppress(FileNotFoundError, StorageError):  # a person started it, or a hook will say what it is
                stamp = open_private(self._home.worker_start, os.O_WRONLY)
                os.ftruncate(stamp, 0)
                os.close(stamp)
            self._is_up = True

    def _leave(self, drain: Drain) -> bool:
        """Close the pipe, look once more; False when there was something after all."""
        self._close_pipe()
        if not self._pass(drain) and not (self._jobs is not None and self._jobs.anything_after_all()) and not self._stay():
            return True
        self._open_pipe()
        return False

    def _open_pipe(self) -> None:
        path = self._home.wake
        with contextlib.suppress(FileNotFoundError):
            found = path.lstat()
            if not stat.S_ISFIFO(found.st_mode) or found.st_uid != os.geteuid():
                path.rename(path.with_name(f"wake.replaced-{time.time_ns()}"))
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.fchmod(self._pipe, 0o600)
        self._bell = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _close_pipe(self) -> None:
        for descriptor in (self._pipe, self._bell):
            if descriptor >= 0:
                os.close(descriptor)
        self._pipe = self._bell = -1

    def _wait(self, seconds: float) -> bool:
        """Sleep until a hook or a signal wakes us; True when one did."""
        if self._stopping or self._pipe < 0:
            return False
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        woken = bool(poll.poll(max(0.0, seconds) * 1000))
        self._empty_pipe()
        return woken

    def _gather(self) -> None:
        """Let the rest of a burst arrive."""
        if not self._stopping:
            time.sleep(GATHER_SECONDS)
            self._empty_pipe()

    def _empty_pipe(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._pipe, 4096):
                pass

    def _on_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closing terminal is no reason to leave

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        if self._bell >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self._bell, b"\n")


def collect_rarely() -> None:
    """A batch is thousands of small objects in no circle, and looking for circles among them takes time. Only for a process
    that is ours alone: a program that uses the library decides for itself."""
    gc.set_threshold(100_000, 50, 50)


def one_thread_for_numbers() -> None:
    """Numpy's library makes a thread and a large buffer for each processor unless it is told otherwise before it is loaded."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def one_heap() -> None:
    """The C library keeps a heap for each thread, and what a thread frees stays in its own: a batch of texts in one, a question
    in another. A worker is idle most of the time and should be small then. Where the library is another one, nothing happens."""
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes

        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_TRIM_THRESHOLD, 1 << 20)


def _write_down(asking: Asking, ledger: Ledger) -> None:
    """What sessions were told since the last time, and what they used of it."""
    while not asking.told.empty():
        session, items, at = asking.told.get()
        if items:
            ledger.note_injections(session, items, at)
    note_uses(ledger)


def _delay(failures: int, error: Exception) -> float:
    """How long to wait after a failed pass."""
    seconds = RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)]
    level = logging.INFO if isinstance(error, LedgerBusy) else logging.ERROR
    log.log(level, "a pass failed, next try in %g s: %s", seconds, str(error).replace("\n", "; "))
    return seconds


class _Redacting(logging.Formatter):
    """A traceback may quote what an event said; the log is a file like any other (P10)."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(super().format(record))[0]


@contextlib.contextmanager
def _logging(home: Home, level: str) -> Iterator[None]:
    """The worker's log: private, bounded, and without anything an event said."""
    path = ensure_private_dir(home.log) / "worker.log"
    os.close(open_private(path, os.O_WRONLY | os.O_CREAT))
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("hindbrain")
    root.setLevel(level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def stop(home: Path, timeout: float = 15.0) -> int | None:
    """Ask the worker of this home to leave and wait until it has; its pid, or None when there was none."""
    lock = Home(home).worker_lock
    pid = _named_holder(lock, min(timeout, TAKE_OVER_SECONDS))
    if pid is None:
        return None
    # The lock was held a moment ago by the process that wrote this pid, so it is not a stranger's. It may be a user's own
    # program that settles what it recorded, though: that one is not ours to end, it will be done in a moment.
    if ROLE in (lock_said(lock) or ""):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while lock_holder(lock) == pid:
        if time.monotonic() > deadline:
            raise StorageError(f"worker {pid} has not left within {timeout:g} s", hint=f"look at {Home(home).log / 'worker.log'}")
        time.sleep(0.02)
    return pid


def _named_holder(lock: Path, timeout: float) -> int | None:
    """Who holds the lock. One that is just coming up, or only looks who holds it, is waited for until it says so or has gone."""
    deadline = time.monotonic() + timeout
    while (pid := lock_holder(lock)) == 0:
        if time.monotonic() > deadline:
            hint = "try again in a moment"
            raise StorageError(f"{lock} is held, but its holder has not said who it is", path=str(lock), hint=hint)
        time.sleep(0.02)
    return pid
