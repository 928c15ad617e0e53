"""A payload and its header -> one checksummed line, and back.

    \\n H1 <crc32> <length> <kind> <agent> <at_ns> <meta> <payload> \\n

A line breaks nothing but itself: one flipped bit costs one record, where a length-prefixed frame would lose all that
follow. It also *begins* with a newline, so a torn line cannot swallow the next writer's. The checksum covers everything
behind the length. Header fields are percent-escaped; the payload stays as it came unless it holds a newline.

The hook imports this module on every call, so it imports nothing but zlib (a plain import of `re` or `dataclasses` costs
more than the whole append). Pure: no I/O, no clock.
"""

import zlib

VERSION = b"H1"
VOID = b"V0 "
# kinds of lines: what a hook was handed, as it came; and an Event that another stage made
HOOK = "hook"
EVENT = "event"

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~/:@+,-")


class Line:
    """What one good line holds."""

    __slots__ = ("agent", "at_ns", "kind", "meta", "payload")

    def __init__(self, kind: str, agent: str, at_ns: int, meta: dict[str, str], payload: bytes) -> None:
        self.kind = kind
        self.agent = agent
        self.at_ns = at_ns
        self.meta = meta
        self.payload = payload


class BadLine(ValueError):
    """Bytes that are not a whole line. `torn`: the end is missing, as after a crash; otherwise it was damaged later."""

    def __init__(self, reason: str, torn: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.torn = torn


def escape(raw: bytes) -> bytes:
    """Header text without spaces, newlines or separators."""
    if not raw:
        return b"-"
    if raw == b"-":
        return b"%2D"
    return b"".join(b"%c" % byte if byte in _PLAIN else b"%%%02X" % byte for byte in raw)


def unescape(field: bytes) -> str:
    """The text escape() was given."""
    if field == b"-":
        return ""
    head, *rest = field.split(b"%")
    raw = head + b"".join(bytes((int(part[:2], 16),)) + part[2:] for part in rest)
    return raw.decode("utf-8", "replace")


def frame(kind: str, agent: bytes, at_ns: int, payload: bytes, meta: dict[str, bytes] | None = None) -> bytes:
    """The bytes to append for one payload, with their newlines."""
    fields = dict(meta) if meta else {}
    if b"\n" in payload:
        payload = payload.replace(b"%", b"%25").replace(b"\n", b"%0A")
        fields["x"] = b"1"
    packed = b"&".join(b"%s=%s" % (name.encode(), escape(value)) for name, value in fields.items()) or b"-"
    body = b"%s %s %d %s %s" % (kind.encode(), escape(agent), at_ns, packed, payload)
    return b"\n%s %08x %d %s\n" % (VERSION, zlib.crc32(body), len(body), body)


def void(length: int) -> bytes:
    """What stands in the place of a line that was forgotten: as long as it was, so that no other line moves."""
    return VOID + b"." * (length - len(VOID))


def is_void(line: bytes) -> bool:
    """Whether a line was forgotten. No single damaged bit makes this of a record, and none of the text is left in it."""
    return line.startswith(VOID) and not line[len(VOID) :].strip(b".")


def parse(line: bytes) -> Line:
    """The record in a line (given without its newlines); BadLine says why there is none."""
    parts = line.split(b" ", 3)
    if len(parts) != 4 or parts[0] != VERSION:
        # a torn line may end inside its own header; anything else that starts differently was damaged
        raise BadLine("no header", torn=_starts_like_a_header(line))
    checksum, length, body = parts[1], parts[2], parts[3]
    if not (length.isdigit() and len(length) <= 12):
        raise BadLine("length is not a number", torn=False)
    if len(body) != int(length):
        raise BadLine(f"{int(length)} bytes announced, {len(body)} found", torn=len(body) < int(length))
    if b"%08x" % zlib.crc32(body) != checksum:
        raise BadLine("checksum does not match", torn=False)
    return _unpack(body)


def _starts_like_a_header(line: bytes) -> bool:
    whole = VERSION + b" "
    return not line.strip(b"\x00") or line.startswith(whole) or whole.startswith(line)


def _unpack(body: bytes) -> Line:
    try:
        kind, agent, at_ns, packed, payload = body.split(b" ", 4)
        meta: dict[str, str] = {}
        if packed != b"-":
            for pair in packed.split(b"&"):
                name, _, value = pair.partition(b"=")
                meta[name.decode()] = unescape(value)
        if meta.pop("x", ""):
            payload = payload.replace(b"%0A", b"\n").replace(b"%25", b"%")
        return Line(kind.decode(), unescape(agent), int(at_ns), meta, payload)
    except ValueError as error:
        raise BadLine(f"fields do not parse: {error}", torn=False) from error
