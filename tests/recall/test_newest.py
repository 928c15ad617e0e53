"""Of statements about one thing the newest comes first, the older when the past is asked for; as of a day nothing later is."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.updates import cases
from hindbrain import Memory
from hindbrain.ledger.database import Database
from hindbrain.recall import cues
from hindbrain.recall.newest import newest_first
from hindbrain.recall.rank import Found
from hindbrain.recall.static import Static
from hindbrain.recall.told_changes import ToldChanges
from tests.engines import ENGINES
from tests.recall.either import either
from tests.recall.homes import START, Said, tell

DAY = 86_400_000
STATIC = Static.load()


def hit(text: str, day: int, score: float, *, role: str = "user", session: str = "", tokens: float = 0.5) -> Found:
    name = f"{text[:20]} {day}"
    parts = {"words": score - tokens, "tokens": tokens}
    return Found(name, "turn", role, text, day * DAY, name, "a", session or name, "p", parts, session or name)


def texts(hits: list[Found]) -> list[str]:
    return [each.text for each in hits]


OLD = "The cache TTL for user profiles is 10 minutes."
NEW = "The cache TTL for user profiles is now one hour."
OTHER = "Run the tests again and show me what fails."


def ranked(question: str, *hits: Found) -> list[str]:
    return texts(newest_first(question, [*hits, *(hit(f"{OTHER} {each}", each, 0.6 - each / 100) for each in range(20))], STATIC))


def test_the_newer_of_two_statements_about_one_thing_comes_first_and_both_say_so() -> None:
    old, new = hit(OLD, 1, 2.0), hit(NEW, 40, 1.9)
    found = newest_first("What is the cache TTL for user profiles?", [old, new, hit(OTHER, 2, 0.5)], STATIC)
    assert texts(found) == [NEW, OLD, OTHER]
    assert [each.note for each in found] == ["replaces what was said on 1970-01-02", "said before 1970-02-10's change", ""]


def test_the_older_comes_first_where_the_question_asks_for_the_past() -> None:
    for question in ("What was the cache TTL for user profiles originally?", "What was the previous TTL of the profile cache?"):
        assert ranked(question, hit(NEW, 40, 2.0), hit(OLD, 1, 1.9))[:2] == [OLD, NEW]
    assert ranked("Which profile cache came first?", hit(NEW, 40, 2.0), hit(OLD, 1, 1.9))[:2] == [NEW, OLD]  # as it was ranked
    assert ranked("What was the TTL in March 2025?", hit(OLD, 1, 2.0), hit(NEW, 40, 1.9))[:2] == [OLD, NEW]


@pytest.mark.parametrize(("older", "newer", "question"), [
    ("Access tokens are valid for 15 minutes.", "Refresh tokens are valid for 30 days.", "How long is an access token valid?"),
    ("Ann reviews the frontend pull requests.", "Bob reviews the backend pull requests.", "Who reviews frontend pull requests?"),
    (OLD, "I planted tomatoes and some basil on the balcony.", "What is the cache TTL for user profiles?"),
], ids=["another modifier", "another area", "another subject"])  # fmt: skip
def test_what_speaks_of_another_thing_stays_where_it_is(older: str, newer: str, question: str) -> None:
    assert ranked(question, hit(older, 1, 2.0), hit(newer, 40, 1.8))[:2] == [older, newer]


def test_what_different_people_say_are_not_two_states_of_one_thing_but_a_heading_is_no_person() -> None:
    cats = [hit("Melanie: I adopted a tabby cat called Luna.", 1, 2.0), hit("Carol: I adopted a tabby cat called Rex.", 40, 1.9)]
    assert texts(newest_first("What is the cat called?", cats, STATIC)) == texts(cats)
    decided, updated = "Decision: sessions are stored in Redis.", "Update: sessions are stored in Postgres."
    assert ranked("Where are sessions stored?", hit(decided, 1, 2.0), hit(updated, 40, 1.9))[:2] == [updated, decided]


def test_what_is_said_in_one_session_is_not_reordered_and_an_assistant_does_not_overrule_a_person() -> None:
    question = "What is the cache TTL for user profiles?"
    assert ranked(question, hit(OLD, 1, 2.0, session="s"), hit(NEW, 2, 1.9, session="s"))[:2] == [OLD, NEW]
    assert ranked(question, hit(OLD, 1, 2.0), hit(NEW, 40, 1.9, role="assistant"))[:2] == [OLD, NEW]
    assert ranked(question, hit(OLD, 1, 2.0, role="assistant"), hit(NEW, 40, 1.9))[:2] == [NEW, OLD]
    assert ranked(question, hit(OLD, 1, 2.0), hit(NEW, 40, 1.9, role="tool_result"))[:2] == [OLD, NEW]


def test_one_that_says_that_the_older_thing_is_over_is_found_further_down() -> None:
    queue, dropped = "Message queue: RabbitMQ.", "We dropped RabbitMQ, jobs live in a Postgres table."
    others = [hit(f"The queue of messages number {each} about cooking", -50 - each, 1.5 - each / 100) for each in range(10)]
    found = newest_first("What do we use as message queue?", [hit(queue, 1, 2.0), *others, hit(dropped, 40, 1.2)], STATIC)
    assert texts(found)[:2] == [dropped, queue]


def test_without_the_table_nothing_moves() -> None:
    hits = [hit(OLD, 1, 2.0), hit(NEW, 40, 1.9)]
    assert newest_first("What is the cache TTL for user profiles?", hits, None) == hits
    assert newest_first("", [], STATIC) == []


WORDS = ["timeout", "is", "5", "seconds", "instead", "of", "RabbitMQ", "now", "no longer", "Ann: hello", "é", "\ud800", "\x00"]
HITS = st.lists(
    st.builds(hit, st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.integers(-(10**9), 10**9), st.floats(0, 3),
              role=st.sampled_from(["user", "assistant", "tool_result"])), max_size=12,
)  # fmt: skip


@settings(max_examples=60)
@given(question=st.lists(st.sampled_from([*WORDS, "before", "what"]), max_size=6).map(" ".join), hits=HITS)
def test_the_same_hits_come_back_each_once_and_in_the_same_order_each_time(question: str, hits: list[Found]) -> None:
    hits.sort(key=lambda each: -each.score)
    again = copy.deepcopy(hits)
    places = {id(each): place for place, each in [*enumerate(hits), *enumerate(again)]}
    found = newest_first(question, list(hits), STATIC)
    assert sorted(map(id, found)) == sorted(map(id, hits))
    assert [places[id(each)] for each in newest_first(question, list(again), STATIC)] == [places[id(each)] for each in found]


def test_cues_are_whole_words() -> None:
    assert cues.asks_for_past("What did we use before?")
    assert not cues.asks_for_past("What do we use now, and before whom?")
    assert not cues.asks_for_past("Is the beforehand check golden?")
    assert cues.says_change("JWT signing switches to EdDSA") and not cues.says_change("the switchboard instructs")


@pytest.mark.slow
def test_amendments_of_coding_decisions_come_first_and_lookalikes_do_not(tmp_path: Path) -> None:
    """Bounds below what is measured (python -m bench.updates): they catch a rule that was broken, not one that got worse."""
    from bench.updates import judged, told

    every = cases()
    with Memory.open(home=tmp_path / "home") as memory:
        told(memory, every)
        found = list(judged(memory, every, show=False))
    right = {kind: [good for case, good, _ in found if case.kind == kind] for kind in ("now", "past", "lookalikes")}
    least = {"now": 0.7, "past": 0.85, "lookalikes": 0.7}
    assert {kind: sum(each) / len(each) >= least[kind] for kind, each in right.items()} == dict.fromkeys(least, True)


@pytest.fixture(params=ENGINES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with either(request, tmp_path) as made:
        yield made


def test_an_amendment_that_the_question_does_not_find_by_itself_is_told_first(memory: Memory) -> None:
    talk = [Said(f"Please look at the parser again, part {each}", session=f"t{each}", minute=100 + each) for each in range(60)]
    queue = Said("Message queue: RabbitMQ.", session="s1", minute=1)
    dropped = Said("We dropped RabbitMQ, jobs live in a Postgres table.", session="s2", minute=90)
    elsewhere = Said("We dropped RabbitMQ here, jobs live in Redis.", session="s3", minute=95, project="/p/two")
    tell(memory, [queue, *talk, dropped, elsewhere])
    hits = memory.search("Which message queue is ours?", 5, "/p/one")
    assert [hit.text for hit in hits[:2]] == [dropped.text, queue.text]
    notes = [hit.note.split("; ")[0] for hit in hits[:2]]
    assert notes == ["replaces what was said on 2026-03-01", "said before 2026-03-01's change"]
    assert hits[0].parts == {"amends": hits[1].score}
    then = memory.search("Which message queue is ours?", 5, "/p/one", as_of=START + timedelta(minutes=10))
    assert [hit.text for hit in then] == [queue.text]


def test_as_of_a_day_nothing_later_exists(memory: Memory) -> None:
    rule = memory.remember("Answer in German", kind="instruction", project="/p/one", at=START)
    fact = memory.remember("The marmoset database is PostgreSQL", project="/p/one", at=START)
    tell(memory, [Said("The marmoset cage timeout is 10 seconds.", session="s1", minute=1)])
    memory.correct(fact, "The marmoset database is SQLite", at=START + timedelta(days=30))
    memory.correct(rule, "Answer in English", at=START + timedelta(days=30))
    tell(memory, [Said("The marmoset cage timeout is now 30 seconds instead.", session="s2", minute=30 * 24 * 60)])
    then, question = START + timedelta(days=10), "What is the marmoset database and cage timeout?"
    before = memory.search(question, project="/p/one", as_of=then)
    assert {hit.text for hit in before} == {"The marmoset database is PostgreSQL", "The marmoset cage timeout is 10 seconds."}
    assert [(hit.valid_to, hit.superseded) for hit in before] == [(None, False)] * 2
    assert sorted(hit.note.partition(" [")[0] for hit in before) == ["", "kept as fact"]
    now = [hit.text for hit in memory.search(question, project="/p/one")]
    assert "The marmoset database is PostgreSQL" not in now
    later, earlier = "The marmoset cage timeout is now 30 seconds instead.", "The marmoset cage timeout is 10 seconds."
    assert now.index(later) < now.index(earlier)
    block = memory.context(question, project="/p/one", as_of=then)
    assert {hit.text for hit in block.hits} == {hit.text for hit in before} | {"Answer in German"}
    assert "Answer in English" in memory.context(question, project="/p/one").text
    assert memory.context(question, project="/p/one", as_of=START - timedelta(days=1)).text == ""
    assert memory.search(question, project="/p/one", as_of=START - timedelta(days=1)) == []


@pytest.mark.parametrize(
    ("question", "newer_first"),
    [
        ("which database does the order service use?", True), ("which database does the order service use now?", True),
        ("what did the order service use before?", False),
    ],
)  # fmt: skip
def test_among_two_statements_alone_the_newer_comes_first_unless_the_past_is_asked_for(
    tmp_path: Path, question: str, newer_first: bool
) -> None:
    """In a small store the last hit is no measure of what is far; "order" is a thing here and no sequence."""
    older, newer = "The order service uses MySQL.", "The order service uses Postgres now instead of MySQL."
    with Memory.open(home=tmp_path) as memory:
        for number, text in enumerate((older, newer)):
            at = datetime(2026, 3, 1 + 9 * number, tzinfo=UTC)
            memory.record(agent="a", session=f"s{number}", role="user", text=text, at=at, project="p")
        memory.settle()
        first = memory.search(question, k=2, project="p")[0].text
    assert first == (newer if newer_first else older)


def test_what_is_asked_again_and_again_takes_no_place_from_the_answer_and_replaces_nothing(memory: Memory) -> None:
    question = "how often does the payments gateway retry"
    again = [Said(question, session=f"s{number}", minute=number + 1) for number in range(200)]
    tell(memory, [Said("the payments gateway retries three times", session="answer"), *again])
    assert "three times" in memory.context(question, project="/p/one").text
    asked, answer, *_ = memory.search(question, project="/p/one")
    assert asked.note == "said more than 100 times, on 2026-03-01 or earlier for the first time"
    assert (answer.text, answer.note) == ("the payments gateway retries three times", "")


def noted(memory: Memory, question: str) -> dict[str, str]:
    """What is said of each hit as to which came before which."""
    kept = ("replaces what was said", "said before")
    hits = memory.search(question, 5, "/p/one")
    return {hit.text: "; ".join(each for each in hit.note.split("; ") if each.startswith(kept)) for hit in hits}


PAYMENTS = Said("The payments API has a timeout of 10 seconds.", session="s1", minute=1)
SEARCH = Said("The search API has a timeout of 3 seconds.", session="s2", minute=3000)


@pytest.mark.parametrize(("older", "newer", "question"), [
    (PAYMENTS.text, SEARCH.text, "what timeout does the API have?"),
    ("Always run terraform plan and show me the output before apply.", "Never run terraform destroy without asking me twice.",
     "what about terraform?"),
    ("Die Rechnungs-Datenbank läuft auf db1.acme.test.", "Die Kunden-Datenbank läuft auf db2.acme.test.",
     "Auf welchem Rechner läuft die Datenbank?"),
    ("El servicio de pagos usa PostgreSQL.", "El servicio de correo usa MySQL.", "¿qué base de datos usa el servicio?"),
    ("Never store secrets in the repo.", "Never ever store secrets in the repo!", "where do I store secrets in the repo?"),
])  # fmt: skip
def test_no_change_is_told_between_statements_of_which_none_replaced_the_other(
    memory: Memory, older: str, newer: str, question: str
) -> None:
    tell(memory, [
        Said(older, session="s1", minute=1), Said("Noted.", session="s1", role="assistant", minute=2),
        Said(newer, session="s2", minute=3000), Said("Noted.", session="s2", role="assistant", minute=3001),
    ])  # fmt: skip
    told = noted(memory, question)
    assert told and set(told.values()) == {""}, told


def test_what_the_ledger_knows_to_be_replaced_is_told_as_such(memory: Memory) -> None:
    use, moved = "We use MySQL for orders.", "We moved from MySQL to PostgreSQL for orders."
    tell(memory, [Said(use, session="s1", minute=1), Said(moved, session="s2", minute=3000)])

    def look(database: Database) -> tuple[bool, bool]:
        rows = database.execute("SELECT id, text, session_id FROM turns ORDER BY at").fetchall()
        older, newer = (Found(each, "turn", "user", text, 1, "", "", "", "p", {}, session) for each, text, session in rows)
        tells = ToldChanges(database)
        return tells(newer, older), tells(older, newer)

    assert memory.look(look) == (True, False)


def test_before_a_session_is_read_its_words_alone_say_what_changed_and_only_of_one_subject(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path / "home") as memory:
        for number, text in enumerate((OLD, NEW, PAYMENTS.text, SEARCH.text)):
            memory.record(agent="a", session=f"s{number}", role="user", text=text, project="/p/one",
                          at=START + timedelta(days=number))  # fmt: skip
        memory.settle_here()  # taken in, and not read
        assert noted(memory, "What is the cache TTL for user profiles?")[OLD].startswith("said before")
        told = noted(memory, "what timeout does the API have?")
        assert (told[PAYMENTS.text], told[SEARCH.text]) == ("", "")
