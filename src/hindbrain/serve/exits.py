"""Exit code -> what it tells a script. The README shows this table and a test keeps the two equal."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
INTERNAL: Final = 1
USAGE: Final = 2
PROBLEMS: Final = 7
UNKNOWN: Final = 9
INTERRUPTED: Final = 130  # 128 + SIGINT, as a shell reports it
READER_GONE: Final = 141  # 128 + SIGPIPE, as a shell reports it

EXITS: Final[dict[int, str]] = {
    DONE: "done",
    INTERNAL: "internal error; a report was written to the log directory",
    USAGE: "the command line or a setting is wrong",
    3: "another worker already serves this home",
    4: "a file, directory or the journal could not be used",
    5: "the ledger could not do its work",
    6: "the thing named does not exist",
    PROBLEMS: "doctor or wiki lint found a problem, import could not read every file, or migrate found a difference",
    8: "the embedder, a model or a backend could not do its work",
    UNKNOWN: "ask found nothing that answers the question",
    INTERRUPTED: "interrupted from the keyboard",
    READER_GONE: "the reader of the output went away",
}
