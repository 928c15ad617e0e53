"""A hook call that may be answered -> the bytes to print, from the best source that is there in time.

The worker answers over a socket within a deadline; without one the ledger is asked directly; failing that, the block
the worker prepared last; else nothing. The event is durable before this is loaded, and whatever happens here the agent
goes on.

The launcher hands this module to the hook, so it runs in the agent's time: no module is imported that the interpreter
does not need anyway, besides the C cores of socket, json and sqlite3.
"""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hindbrain.recall.context import Asked

# Claude Code's events that take an answer, and how much each may say, in tokens.
BUDGETS = {"SessionStart": 1600, "UserPromptSubmit": 800, "SubagentStart": 800}
DEADLINE_SECONDS = 0.15
_MAX_FILE = 256 << 10
_LEDGER_SECONDS = 0.3
_STEPS = 20_000  # of SQLite's machine between two looks at the clock: a millisecond or two
_MAX_ANSWER = 128 << 10
MAX_SOCKET_PATH = 100
_HEAD = '{{"hookSpecificOutput":{{"hookEventName":"{}","additionalContext":"'
_TAIL = "}}"


def answer(home: bytes, agent: str, event: str, payload: bytes) -> bytes:
    """What to print, or nothing."""
    if agent != "claude-code" or event not in BUDGETS:
        return b""
    for source in (_from_worker, _from_ledger, _prepared):
        try:
            found = source(home, event, payload)
        except Exception:  # noqa: BLE001  # the next source may do; the event itself is already kept
            continue
        if found is not None:
            return found
    return b""


def checked(event: str, answer: bytes) -> bytes:
    """The answer if it is one that shaped() makes; raises ValueError otherwise. Nothing else may reach the agent."""
    import _json

    head = _HEAD.format(event)
    text = answer.decode("ascii")
    if answer and (not text.startswith(head) or text[_json.scanstring(text, len(head), True)[1] :] != _TAIL):
        raise ValueError("not an answer of ours")
    return answer


def _from_worker(home: bytes, event: str, payload: bytes) -> bytes | None:
    import _socket
    import time

    path = home + b"/ask"
    if len(path) > MAX_SOCKET_PATH:
        return None
    deadline = time.monotonic() + DEADLINE_SECONDS
    peer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        peer.settimeout(DEADLINE_SECONDS)
        peer.connect(path)
        peer.sendall(b"%s %d\n" % (event.encode(), len(payload)) + payload)
        blocks: list[bytes] = []
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or sum(map(len, blocks)) > _MAX_ANSWER:
                return None
            peer.settimeout(left)
            block = peer.recv(_MAX_ANSWER)
            if not block:
                break
            blocks.append(block)
    finally:
        peer.close()
    # the last byte says that the answer is whole: a worker that dies half-way must not be quoted
    whole = b"".join(blocks)
    return checked(event, whole[:-1]) if whole.endswith(b"\n") else None


def _from_ledger(home: bytes, event: str, payload: bytes) -> bytes | None:
    import _sqlite3
    import time

    from hindbrain.recall import context, rank

    text = payload.decode("utf-8", "replace")
    path = home + b"/ledger.db"
    if posix.stat(path).st_mode & 0o170000 != 0o100000:
        return None  # opening a pipe would wait for ever
    uri = "file:" + _quoted(path) + "?mode=ro"
    connection = _sqlite3.connect(uri, timeout=0.1, uri=True, isolation_level=None)
    deadline = time.monotonic() + _LEDGER_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        place = connection.execute("SELECT project_id FROM places WHERE cwd = ?", (field(text, "cwd"),)).fetchone()
        row = connection.execute(
            "SELECT id FROM sessions WHERE agent = 'claude-code' AND client_id = ?", (field(text, "session_id"),)
        ).fetchone()
        session = row[0] if row else ""
        told = connection.execute("SELECT item_id FROM injections WHERE session_id = ?", (session,)).fetchall()
        asked = question(
            event, rank.Scope(place[0] if place else None), session, field(text, "prompt"), frozenset(each[0] for each in told),
        )  # fmt: skip
        asked.known_text = known_text(field(text, "cwd"))
        if event == "SubagentStart":  # it starts with nothing of what its parent was told
            asked.prompt, asked.already = context.last_prompt(connection, session), frozenset()
        said, _ = context.build(connection, asked)
    finally:
        connection.close()
    return shaped(event, said)


def known_text(cwd: str) -> str:
    """The words of what the agent reads anyway: the project's own instruction files."""
    from hindbrain.recall.words import spaced

    texts: list[str] = []
    for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"):
        try:
            file = posix.open(f"{cwd}/{name}", posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
        except (OSError, ValueError):
            continue  # there is none, or the path is none
        try:
            if posix.fstat(file).st_mode & 0o170000 == 0o100000:
                texts.append(posix.read(file, _MAX_FILE).decode("utf-8", "replace"))
        except OSError:
            continue  # it cannot be read, and the agent cannot either
        finally:
            posix.close(file)
    return spaced(" ".join(texts), 3 * _MAX_FILE)


def question(event: str, scope: object, session: str, prompt: str, already: "frozenset[str]") -> "Asked":
    """What a block is wanted for at each event: rules once, what is recent at the start, what fits at a prompt."""
    from hindbrain.recall.context import Asked

    start = event == "SessionStart"
    return Asked(
        scope, prompt="" if start else prompt, session=session, budget=BUDGETS[event], recent=start, already=already,  # type: ignore[arg-type]
        agent="claude-code", eases=event == "UserPromptSubmit",
    )  # fmt: skip


def shaped(event: str, text: str) -> bytes:
    """Claude Code's exact answer; nothing at all when there is nothing to say."""
    if not text:
        return b""
    import _json

    return (_HEAD.format(event) + _json.encode_basestring_ascii(text)[1:] + _TAIL).encode("ascii")


def field(text: str, name: str) -> str:
    """A string member of a JSON object, found without loading a parser; "" when it is not there.

    Only the outermost members of what an agent sends are asked for, and these stand before any text that could imitate them.
    """
    import _json

    at = text.find(f'"{name}":')
    if at < 0:
        return ""
    at += len(name) + 3
    while text[at : at + 1] == " ":
        at += 1
    if text[at : at + 1] != '"':
        return ""
    value: str = _json.scanstring(text, at + 1, False)[0]
    return value


def _prepared(home: bytes, event: str, payload: bytes) -> bytes | None:
    if event != "SessionStart":
        return None
    import zlib

    cwd = field(payload.decode("utf-8", "replace"), "cwd").encode("utf-8", "surrogatepass")
    file = posix.open(
        home + b"/prepared/%08x" % zlib.crc32(cwd), posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
    )
    try:
        data = posix.read(file, _MAX_ANSWER)
    finally:
        posix.close(file)
    # the name is a short digest: the file says itself which folder it is for
    return checked(event, data[len(cwd) + 1 :]) if data.startswith(cwd + b"\0") else None


def _quoted(path: bytes) -> str:
    """A path inside a URI."""
    return "".join(chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"/._-" else f"%{byte:02X}" for byte in path)
