"""One thing an agent's hook call or transcript line said, in the same shape for every agent.

The id is made of the client's own ids and, where the client gives none, of the content. A hook and the transcript
therefore name the same turn alike, and a resend is the same event. Nothing here is random and nothing reads a clock.

Ids have two versions. Those of the second begin with the session's, so that what is said in one session lies together in an
index; those of the first are spread all over it. An event keeps the version it was written with for ever.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

EVENT_VERSION: Final = 2
FIRST_VERSION: Final = 1
# How many digits of the session's id the id of an event begins with.
SESSION_DIGITS: Final = 3

# A turn is a piece of conversation. The typed notes (decision ... custom) are what an agent builder hands us as such. The
# rest describe a session or the journal's own bookkeeping and never become turns.
Kind = Literal[
    "turn",
    "decision", "file", "task", "insight", "error", "command", "subagent", "custom",
    "session_start", "session_end", "pre_compact", "post_compact", "subagent_start", "subagent_stop",
    "notice",  # a hook call that carries nothing to keep, or one of a kind we do not know; counted, shown, never lost
    "unparsed",  # a payload no adapter could read: its text is kept as it came
    "place",  # which project a working directory belongs to, as found when it was first seen
    "cursor",  # how far a transcript has been read
    "memory",  # a person keeps, corrects or pins a statement; detail says which
    "forget",  # ids that must not be kept any longer, nor come back
    "call",  # a reply of a model that was paid for
]
Role = Literal["user", "assistant", "tool_call", "tool_result"]
Origin = Literal["hook", "transcript", "api", "worker"]

KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))
ROLES: Final[frozenset[str]] = frozenset(get_args(Role))
ORIGINS: Final[frozenset[str]] = frozenset(get_args(Origin))

# Longer texts are kept in part, with a mark; one turn must not fill the ledger.
MAX_TEXT_CHARS: Final = 200_000
# Ids look at this much of a text, so a hook payload that was cut and the whole transcript line still agree.
ID_TEXT_CHARS: Final = 4_096

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a text stands: bytes start to end of a transcript file."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What one hook call or transcript line said."""

    kind: Kind
    agent: str
    session: str
    at: int  # milliseconds since 1970, UTC
    key: str  # the client's own id of this thing, unique within session, kind and role
    origin: Origin
    role: Role | None = None
    text: str = ""
    cwd: str = ""
    tool: str = ""
    parent: str = ""  # client id of the session that started this one (subagents)
    source: Source | None = None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])
    version: int = EVENT_VERSION
    # Secrets that were taken out of it on the way, by rule. The line that holds it says so in its header (capture/record.py).
    redacted: Mapping[str, int] = field(default_factory=dict[str, int], compare=False)

    @property
    def id(self) -> str:
        """The same for a hook call, its resend and the transcript line that repeats it, if one version wrote them."""
        make = first_id if self.version == FIRST_VERSION else newest_id
        return make(self.agent, self.session, self.kind, self.role or "", self.key)

    @property
    def ids(self) -> tuple[str, str]:
        """What it is called in the newest version and in the first: another program may have written it before."""
        told = (self.agent, self.session, self.kind, self.role or "", self.key)
        return newest_id(*told), first_id(*told)


def stable_id(prefix: str, *parts: str) -> str:
    """A short id that depends on nothing but the parts; a length before each keeps ("ab", "c") and ("a", "bc") apart."""
    raws = [part.encode("utf-8", "surrogatepass") for part in parts]
    whole = b"".join([b"%d:%s" % (len(raw), raw) for raw in raws])
    return f"{prefix}_{hashlib.blake2b(whole, digest_size=12).hexdigest()}"


def session_id(agent: str, session: str) -> str:
    """The ledger's id of a client's session."""
    return stable_id("s", agent, session)


def newest_id(agent: str, session: str, kind: str, role: str, key: str) -> str:
    """The id of an event as it is made now: a few digits of the session's, then those of a hash of everything."""
    return f"e_{session_id(agent, session)[2 : 2 + SESSION_DIGITS]}{first_id(agent, session, kind, role, key)[2:-SESSION_DIGITS]}"


def first_id(agent: str, session: str, kind: str, role: str, key: str) -> str:
    """The id that the first version gave the same event."""
    return stable_id("e", agent, session, kind, role, key)


def text_key(text: str) -> str:
    """A short digest of a text for use inside a key, blind to line ends and surrounding space."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()[:ID_TEXT_CHARS]
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def bounded(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """The text, or its beginning and a mark that says how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[... {len(text) - limit} more characters not kept]"


def storable(text: str) -> str:
    """The text as UTF-8 can hold it: lone surrogates and NUL become U+FFFD, so no later writer can fail on them."""
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def shares(events: Sequence[Event], counts: Mapping[str, int]) -> list[dict[str, int]]:
    """Of the secrets that were taken out of what says these events, how many of each rule were in which of them.

    The mark that stands in a secret's place tells; the first event is taken where no text shows it. So what several deliveries
    say of one event agrees, and can be counted once.
    """
    found: list[dict[str, int]] = [{} for _ in events]
    for rule, count in counts.items():
        shown = [min(event.text.count(f"[redacted:{rule}]"), count) for event in events]
        if shown and not any(shown):
            shown[0] = count
        for share, number in zip(found, shown, strict=True):
            if number:
                share[rule] = number
    return found


def encode(event: Event) -> bytes:
    """One line of JSON, without line breaks, for the journal."""
    data: dict[str, Json] = {
        "v": event.version, "kind": event.kind, "agent": event.agent, "session": event.session, "at": event.at,
        "key": event.key, "origin": event.origin,
    }
    optional: dict[str, Json] = {
        "role": event.role, "text": event.text, "cwd": event.cwd, "tool": event.tool, "parent": event.parent,
        "detail": dict(event.detail),
    }
    data.update({name: value for name, value in optional.items() if value})
    if event.source is not None:
        data["source"] = [event.source.path, event.source.start, event.source.end]
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode("ascii")


class BadEvent(ValueError):
    """Bytes that are not an event of a version we know; the caller keeps them and says so."""


def decode(data: bytes) -> Event:
    """The event a journal line holds. Raises BadEvent for anything else, also for a version newer than ours."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadEvent(f"not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise BadEvent(f"an object was expected, found {type(raw).__name__}")
    version = raw.get("v")
    if not isinstance(version, int) or isinstance(version, bool) or not FIRST_VERSION <= version <= EVENT_VERSION:
        raise BadEvent(f"event version {version!r} is not {FIRST_VERSION} to {EVENT_VERSION}")
    return _checked(raw, version)


def _checked(raw: dict[str, Json], version: int) -> Event:
    kind, role, origin, at = raw.get("kind"), raw.get("role"), raw.get("origin"), raw.get("at")
    if kind not in KINDS or origin not in ORIGINS or (role is not None and role not in ROLES):
        raise BadEvent(f"unknown kind, role or origin: {kind!r}, {role!r}, {origin!r}")
    if not isinstance(at, int) or isinstance(at, bool):
        raise BadEvent(f"time is not a whole number: {at!r}")
    detail = raw.get("detail", {})
    if not isinstance(detail, dict):
        raise BadEvent("detail is not an object")
    return Event(
        kind=kind,  # type: ignore[arg-type]  # membership was checked above
        agent=_text(raw, "agent"), session=_text(raw, "session"), at=at, key=_text(raw, "key"),
        origin=origin,  # type: ignore[arg-type]
        role=role,  # type: ignore[arg-type]
        text=_text(raw, "text"), cwd=_text(raw, "cwd"), tool=_text(raw, "tool"), parent=_text(raw, "parent"),
        source=_source(raw.get("source")), detail=detail, version=version,
    )  # fmt: skip


def _text(raw: Mapping[str, Json], name: str) -> str:
    value = raw.get(name, "")
    if not isinstance(value, str):
        raise BadEvent(f"{name} is not text: {value!r}")
    return value


def _source(value: Json) -> Source | None:
    if value is None:
        return None
    match value:
        case [str(path), int(start), int(end)]:
            return Source(path, start, end)
        case _:
            raise BadEvent(f"source is not [path, start, end]: {value!r}")
