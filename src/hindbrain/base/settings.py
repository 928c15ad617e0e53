"""Text or TOML value -> checked setting: every setting there is, with its default, its meaning and what it accepts.

One tuple says it all. Loading, `config show`, `config set` and docs/configuration.md are made from it, so a setting
that is not here does not exist and one that is here cannot be forgotten anywhere. Nothing here reads a file or the
environment.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

Value = bool | int | float | str | tuple[str, ...]

MASK: Final = "****"
POSTGRESQL: Final = ("postgresql://", "postgres://")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_EMBEDDER: Final = re.compile(r"(?:fastembed|openai|ollama):[A-Za-z0-9._:/@+-]{1,200}")
_MODEL: Final = re.compile(r"(?:anthropic|openai|gemini|ollama|claude-cli|codex-cli):[A-Za-z0-9._:/@+-]{1,200}")
_MOST_MODELS: Final = 8
_ZONE: Final = re.compile(r"[A-Za-z0-9_+-]{1,32}(?:/[A-Za-z0-9_+-]{1,32}){0,2}")
_PRINTABLE: Final = re.compile(r"[!-~]{1,2000}")


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing a person may set."""

    name: str
    default: Value
    description: str
    allowed: str  # completes the sentence "allowed: ..."
    check: Callable[[object], Value]  # raises ValueError for anything not allowed
    read_text: Callable[[str], object]  # a variable's or flag's text -> what the file would hold
    mask: Callable[[str], str] | None = None  # a secret's text -> what may be shown of it
    in_file: bool = True

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "HINDBRAIN_" + self.name.upper().replace(".", "_")

    @property
    def secret(self) -> bool:
        return self.mask is not None

    def shown(self, value: Value) -> Value:
        """The value as it may be shown to anybody."""
        return self.mask(value) if self.mask is not None and isinstance(value, str) else value


def as_text(value: object) -> str:
    """A value the way a variable or `config set` would spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ":".join(str(item) for item in value)
    return str(value)


def mask_database(value: str) -> str:
    """A checked connection string without its password; shows too little rather than too much."""
    if "://" not in value:
        return value
    scheme, rest = value.split("://", 1)
    userinfo, at, host = rest.partition("@")
    if "@" in host or (at and any(letter in userinfo for letter in "/?#")):
        return f"{scheme}://{MASK}"  # an @ out of its place: where the password ends is anybody's guess
    user, colon, _ = userinfo.partition(":") if at else ("", "", "")
    host, query, _ = (host if at else rest).partition("?")  # a query may hold a password too, under more than one name
    return f"{scheme}://{user}{colon and ':' + MASK}{at}{host}{query and '?' + MASK}"


def mask_nothing(value: str) -> str:
    """A value that holds no secret once it is checked, but may do so where it is refused."""
    return value


def mask_whole(value: str) -> str:
    """A secret of which nothing may be shown but whether there is one."""
    return MASK if value else ""


def _database(value: object) -> str:
    if value == "sqlite":
        return "sqlite"
    if not isinstance(value, str) or not value.startswith(POSTGRESQL):
        raise ValueError("not a database we know")
    parts = urlsplit(value)
    if not parts.hostname or not parts.path.strip("/") or parts.port == 0:
        raise ValueError("host or database name is missing")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("not a name")
    return value


def _zone(value: object) -> str:
    """The form of a zone's name; whether there is such a zone is for those to find out who need it."""
    if not isinstance(value, str) or not _ZONE.fullmatch(value):
        raise ValueError("not a time zone")
    return value


def _embedder(value: object) -> str:
    if not isinstance(value, str) or not (value in ("static", "none") or _EMBEDDER.fullmatch(value)):
        raise ValueError("not an embedder we know")
    return value


def _url(value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _PRINTABLE.fullmatch(value):
        raise ValueError("not an address")
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not an address of the web")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("a secret may stand there, and it would be shown")
    return value.rstrip("/")


def _key(value: object) -> str:
    """A key goes into a header: nothing that could end the line or begin another."""
    if not isinstance(value, str) or not (value == "" or _PRINTABLE.fullmatch(value)):
        raise ValueError("not a key")
    return value


def _models(value: object) -> str:
    """Names of models in the order they are tried; "none" for no model."""
    if value == "none":
        return "none"
    names = value.split(",") if isinstance(value, str) else []
    if not 0 < len(names) <= _MOST_MODELS or not all(_MODEL.fullmatch(name) for name in names) or len(set(names)) < len(names):
        raise ValueError("not models we know")
    return ",".join(names)


def _urls(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not an address")
    return ",".join(_url(each) for each in value.split(","))


def _path(value: object) -> str:
    if not isinstance(value, str) or not value or any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        raise ValueError("not a path")
    if not os.path.isabs(value):
        raise ValueError("not absolute")
    return os.path.normpath(value)


def _paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError("not a list")
    return tuple(_path(item) for item in value)


def _number(low: float, high: float) -> Callable[[object], Value]:
    def check(value: object) -> Value:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError("not a number")
        if not low <= value <= high:
            raise ValueError("out of range")
        return value

    return check


def _whole(low: int, high: int) -> Callable[[object], Value]:
    def check(value: object) -> Value:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError("not a whole number in range")
        return value

    return check


def _yes_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _one_of(*words: str) -> Callable[[object], Value]:
    def check(value: object) -> Value:
        if not isinstance(value, str) or value not in words:
            raise ValueError("not one of the words")
        return value

    return check


def _prices(value: object) -> Value:
    """A price, or one for each of several models; nothing between two commas is a price of the table."""
    price = _number(-1, 10_000)
    if not isinstance(value, str):
        return price(value)
    for each in value.split(","):
        price(_text_to_number(each or "-1"))
    return value


def _text_to_prices(text: str) -> str | float:
    return text if "," in text else _text_to_number(text)


def _text_to_number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _text_to_yes_no(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError("neither yes nor no") from None


def _text_to_paths(text: str) -> list[str]:
    return [item for item in text.split(":") if item]


def _caps(name: str, whose: str, tokens: int, dollars: float) -> tuple[Setting, Setting]:
    """What models may use from midnight to midnight."""
    then = f"may be used by models a day{whose}; then work goes on by rules. 0: no such limit."
    return (
        Setting(
            f"{name}_daily_tokens", tokens, f"How many tokens {then}",
            "a whole number from 0 to 10000000000", _whole(0, 10**10), int,
        ),
        Setting(
            f"{name}_daily_cost", dollars, f"How many US dollars {then}",
            "a number from 0 to 1000000", _number(0, 10**6), _text_to_number,
        ),
    )  # fmt: skip


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        "home", "", "The directory that holds the journal, the ledger, logs and this configuration.",
        "an absolute path", _path, str, in_file=False,
    ),
    Setting(
        "database", "sqlite", "The ledger that is asked: this home's own, or one in PostgreSQL that several machines share.",
        '"sqlite" or postgresql://user:password@host/name', _database, str, mask=mask_database,
    ),
    Setting(
        "tenant", "main", "Whose memories are kept in a shared database; tenants never see each other's.",
        "1 to 64 letters, digits, dots, dashes and underscores", _name, str,
    ),
    Setting(
        "embedder", "static", "What turns text into vectors for search by meaning: the package's own table, a model, or nothing.",
        '"static", "none", "fastembed:MODEL", "openai:MODEL" or "ollama:MODEL"', _embedder, str,
    ),
    Setting(
        "embedder_url", "", "Where a model of the kind openai or ollama answers: the part before /v1/embeddings or /api/embed.",
        "an http:// or https:// address without user, password and question mark", _url, str, mask=mask_nothing,
    ),
    Setting(
        "embedder_key", "", "The key an embedder of the kind openai asks for.",
        "up to 2000 printable letters without spaces", _key, str, mask=mask_whole,
    ),
    Setting(
        "embedder_timeout", 30, "After how many seconds an embedder that does not answer is given up.",
        "a number from 0.1 to 600", _number(0.1, 600), _text_to_number,
    ),
    Setting(
        "model", "none", "The model that reasons, or several in the order they are tried; without one everything goes by rules.",
        '"none", or "KIND:NAME" separated by commas, of the kinds anthropic, openai, gemini, ollama, claude-cli, codex-cli',
        _models, str,
    ),
    Setting(
        "model_url", "", "Where a model answers, if not at its maker's; of several models separated by commas, in their order.",
        "http:// or https:// addresses without user, password and question mark", _urls, str, mask=mask_nothing,
    ),
    Setting(
        "model_key", "", "The key a model asks for; of several models separated by commas, in their order.",
        "up to 2000 printable letters without spaces", _key, str, mask=mask_whole,
    ),
    Setting(
        "model_timeout", 120, "After how many seconds a model that has not answered is given up.",
        "a number from 0.1 to 3600", _number(0.1, 3_600), _text_to_number,
    ),
    Setting(
        "model_night", False, "Whether a model may be used between 23:00 and 07:00 without being asked for.",
        "true or false", _yes_no, _text_to_yes_no,
    ),
    Setting(
        "model_price_input", -1, "What a million tokens sent to a model cost, in US dollars; below 0: as our table has it; "
        "of several models separated by commas, in their order.",
        "numbers from -1 to 10000", _prices, _text_to_prices,
    ),
    Setting(
        "model_price_output", -1, "What a million tokens of a model's replies cost, in US dollars; below 0: as our table has it; "
        "of several models separated by commas, in their order.",
        "numbers from -1 to 10000", _prices, _text_to_prices,
    ),
    *_caps("model", "", 500_000, 0.5),
    *_caps("model_project", " for one project", 0, 0),
    *_caps("model_kind", " for one kind of job", 0, 0),
    Setting(
        "worker.idle_seconds", 300, "The worker leaves after this many seconds without work.",
        "a number from 0 to 86400", _number(0, 86_400), _text_to_number,
    ),
    Setting(
        "capture.transcript_roots", (), "Further directories whose transcripts are followed.",
        "a list of absolute paths (in a variable: separated by colons)", _paths, _text_to_paths,
    ),
    Setting(
        "capture.catch_up", True, "Read transcripts of sessions whose hooks never fired.",
        "true or false", _yes_no, _text_to_yes_no,
    ),
    Setting(
        "journal.keep_segments", 2, "How many full journal segments stay uncompressed.",
        "a whole number from 0 to 10000", _whole(0, 10_000), int,
    ),
    Setting(
        "jobs.keep_days", 14, "How many days finished and cancelled jobs are kept.",
        "a number from 0 to 3650", _number(0, 3_650), _text_to_number,
    ),
    Setting(
        "timezone", "UTC", "The time zone whose days and hours the pages of the wiki tell; one that is not known is told as UTC.",
        "the name of a zone such as Europe/Madrid", _zone, str,
    ),
    Setting(
        "wiki.enabled", True, "Whether the worker keeps the wiki up to date once there is one.",
        "true or false", _yes_no, _text_to_yes_no,
    ),
    Setting(
        "wiki.every", 60, "After how many minutes the worker brings a wiki up to date in which something is missing.",
        "a number from 1 to 10080", _number(1, 10_080), _text_to_number,
    ),
    Setting(
        "log.level", "info", "How much the worker writes to its log.",
        "debug, info, warning or error", _one_of("debug", "info", "warning", "error"), str.lower,
    ),
)  # fmt: skip

BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
