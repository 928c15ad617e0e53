"""What PostgreSQL and its driver say went wrong -> our errors, each with what to do about it.

Three kinds matter to a caller: the server cannot be reached (LedgerUnreachable: use something else, try again later), it can
be but this transaction had to give way (LedgerBusy: try again), and what trying again will not mend (LedgerError).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import psycopg

from hindbrain.base.errors import LedgerBusy, LedgerError, LedgerUnreachable
from hindbrain.base.settings import mask_database

# Classes of SQLSTATE: 08 connection, 53 resources, 57P the server is being shut down.
_UNREACHABLE: Final = ("08", "53", "57P")
# Serialization failure, deadlock, lock not available, statement cancelled (our own time limits).
_GAVE_WAY: Final = frozenset({"40001", "40P01", "55P03", "57014"})
_READ_ONLY: Final = "25006"
_SETTING: Final = "the setting `database` (HINDBRAIN_DATABASE)"
# SQLSTATE -> what it means and what to do.
_REFUSALS: Final = {
    "28P01": ("the password or the user name is wrong", f"correct it in {_SETTING}"),
    "28000": ("this user may not log in from here", f"check the user name in {_SETTING}, and pg_hba.conf on the server"),
    "3D000": ("there is no such database", f"create it with `createdb`, or name another one in {_SETTING}"),
    "42501": ("this user lacks a right", "have the administrator of the database grant it"),
    "08P01": ("it does not speak PostgreSQL's protocol", f"check host and port in {_SETTING}"),
    "ssl": ("the encrypted connection could not be made", f"check sslmode and certificates in {_SETTING}"),
}
# libpq does not hand on the code of a refused login, only its words. In another language, or unknown to us, a refusal
# counts as a server out of reach, and the words are shown.
_WORDS: Final = {
    "password authentication failed": "28P01",
    "no password supplied": "28P01",
    "no pg_hba.conf entry": "28000",
    "is not permitted to log in": "28000",
    'FATAL:  role "': "28000",
    'FATAL:  database "': "3D000",
    "permission denied": "42501",
    "received invalid response": "08P01",
    "does not support SSL": "ssl",
    "SSL error": "ssl",
    "certificate": "ssl",
}


class NoAnswer(psycopg.OperationalError):
    """The server did not answer within the time limit, so its connection was given up"""


@contextlib.contextmanager
def translating(url: str) -> Iterator[None]:
    """Raise ours for the driver's."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, url) from error
    except (UnicodeError, OverflowError) as error:  # a value that no column can hold
        raise LedgerError(f"the ledger {mask_database(url)} cannot hold a value: {error}") from error


def translated(error: psycopg.Error, url: str) -> LedgerError:
    """The error to raise for one of the driver's; the password is in none of them."""
    where, said, state = mask_database(url), _said(error), _state(error)
    if state in _GAVE_WAY:
        return LedgerBusy(f"the ledger {where} had to give way to others: {said}")
    if state == _READ_ONLY:
        return takes_no_writes(where)
    if state in _REFUSALS:
        meaning, hint = _REFUSALS[state]
        return LedgerError(f"the ledger {where} cannot be used: {meaning}: {said}", hint=hint)
    if is_unreachable(error):
        return LedgerUnreachable(f"the ledger {where} cannot be reached: {said}")
    return LedgerError(f"the ledger {where} could not do its work: {said}")


def takes_no_writes(where: str) -> LedgerError:
    """For a server that only answers questions."""
    return LedgerError(
        f"the ledger {where} takes no writes: the server is a standby or set to read only",
        hint=f"name the primary server in {_SETTING}; of several hosts target_session_attrs=read-write finds it",
    )


def is_unreachable(error: psycopg.Error) -> bool:
    """Whether the server is away, going away or full: another time it may be there."""
    state = _state(error)
    if state:
        return state.startswith(_UNREACHABLE)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def _state(error: psycopg.Error) -> str:
    if error.sqlstate:
        return error.sqlstate
    said = str(error)
    return next((state for words, state in _WORDS.items() if words in said), "")


def _said(error: psycopg.Error) -> str:
    """What was said, in one line, without the library's question whether the server runs."""
    told = error.diag.message_primary or str(error).partition("\n\tIs the server running")[0]
    return " ".join(told.split()).removeprefix("connection failed: ") or type(error).__name__
