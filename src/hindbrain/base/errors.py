"""Every error Hindbrain raises, and the exit code each one ends a command with.

HindbrainError
 +-- UsageError            2   the command line asks for something that cannot be
 +-- ConfigError           2   a setting has a bad value; names the setting and its source
 +-- NotFound              6   the thing named does not exist
 +-- WorkerRunning         3   another worker holds this home; carries its pid
 +-- StorageError          4   a file or directory could not be used; carries path and errno
 |    +-- UnsafePath       4   a path is a link, a device, or belongs to somebody else
 |    +-- LockTimeout      4   a lock was held for longer than we wait
 +-- JournalError          4   an event could not be made durable, or an archive cannot be trusted
 +-- EmbedderFailed        8   texts could not be turned into vectors; carries whether trying again may help
 +-- LedgerError           5   the database could not do its work
      +-- LedgerBusy       5   another process holds the database; trying again is right
      |    +-- LedgerUnreachable 5  the database server is away or full; later it may be there
      +-- LedgerNotReady   5   the database waits for a migration that a reader may not run
      +-- LedgerDamaged    5   the database file is not sound
      +-- SchemaTooNew     5   the database was written by a newer Hindbrain
      +-- MigrationChanged 5   an applied migration differs from the one shipped

A message says what failed and what was found; `hint` says what to do next. Foreign exceptions (OSError, sqlite3.Error)
are chained, never shown bare.
"""

from __future__ import annotations


class HindbrainError(Exception):
    """Hindbrain could not do what was asked"""

    exit_code = 1
    default_hint = "run `hindbrain doctor` to see what is wrong"

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.hint = hint or self.default_hint
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}"


class UsageError(HindbrainError):
    """The command cannot be carried out as given"""

    exit_code = 2
    default_hint = "see `hindbrain --help`"


class ConfigError(HindbrainError):
    """A setting has a bad value"""

    exit_code = 2
    default_hint = "run `hindbrain config show` to see every value and where it comes from"


class NotFound(HindbrainError):
    """Nothing of that name is stored"""

    exit_code = 6
    default_hint = "check the id, or search for it with `hindbrain search`"


class WorkerRunning(HindbrainError):
    """Another worker already serves this home"""

    exit_code = 3
    default_hint = "nothing to do: one worker per home is enough; `hindbrain daemon stop` ends it"

    def __init__(self, message: str = "", *, hint: str = "", pid: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.pid = pid


class StorageError(HindbrainError):
    """A file or directory could not be used"""

    exit_code = 4
    default_hint = "check that the disk has room and that the directory belongs to you"

    def __init__(self, message: str = "", *, hint: str = "", path: str = "", errno: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.errno = errno


class UnsafePath(StorageError):
    """A path is not a plain file or directory of yours"""

    default_hint = "remove or rename it; Hindbrain does not follow links or use files of other users"


class LockTimeout(StorageError):
    """A lock was not released in time"""

    default_hint = "another Hindbrain command is at work; try again when it has ended"


class JournalError(HindbrainError):
    """An event could not be made durable"""

    exit_code = 4
    default_hint = "check free space and permissions with `hindbrain doctor`"


class EmbedderFailed(HindbrainError):
    """Texts could not be turned into vectors"""

    exit_code = 8
    default_hint = "search goes by words meanwhile; see the settings that begin with embedder in `hindbrain config show`"

    def __init__(self, message: str = "", *, hint: str = "", retryable: bool = False, after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable  # the same texts may be embedded later
        self.after = after  # seconds the other side asks to be left alone


class LedgerError(HindbrainError):
    """The ledger could not do its work"""

    exit_code = 5


class LedgerBusy(LedgerError):
    """The ledger is in use by another process"""

    default_hint = "try again in a moment; nothing was lost"


class LedgerUnreachable(LedgerBusy):
    """The database server cannot be reached"""

    default_hint = "nothing is lost: what is captured stays here and is handed on when the server answers again"


class LedgerNotReady(LedgerError):
    """The ledger waits for a migration"""

    default_hint = "start the worker, which brings it up to date: `hindbrain daemon start`"

    def __init__(self, message: str = "", *, hint: str = "", fresh: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.fresh = fresh  # nothing has ever been put into it


class LedgerDamaged(LedgerError):
    """The ledger file is not sound"""

    default_hint = "run `hindbrain doctor --repair`: the ledger is rebuilt from the journal and its archives"


class SchemaTooNew(LedgerError):
    """The ledger was written by a newer version of Hindbrain"""

    default_hint = "upgrade Hindbrain; this version leaves the ledger untouched"


class MigrationChanged(LedgerError):
    """A migration that was applied to this ledger differs from the one this version ships"""

    default_hint = "install the released package again; do not edit migrations"
