"""A block says of a turn what became of what was found in it: contradicted, or no longer so; on every engine, by words alone."""

from __future__ import annotations

import pytest

from hindbrain.ledger import joining, reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall import joined, rank
from hindbrain.recall.context import Asked, build
from tests.conformance.reasoning import ONE, PLACE, TWO, act, put, statement, tell
from tests.conformance.states import rows
from tests.ledger.making import event

USE = event(session="s1", key="t1", at=100, text="We use Postgres for the orders.", cwd="/p")
NEVER = event(session="s2", key="u1", at=2_000, text="Never Postgres for orders, it is MySQL now.", cwd="/p")
BACKUP = event(session="s2", key="u2", at=2_100, text="The orders in Postgres are what we back up.", cwd="/p")
DAY = "1970-01-01"


@pytest.fixture(params=["at a prompt", "at the start of a session"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def labels(ledger: Evidence, way: str) -> dict[str, str]:
    """What the block says before each turn's text."""
    ((project,),) = rows(ledger, "SELECT id FROM projects")
    prompt = "is it Postgres that we use for the orders?" if way == "at a prompt" else ""
    asked = Asked(rank.Scope(project), prompt=prompt, recent=not prompt, rules=False)
    with ledger.reading() as database:
        text, _ = build(database, asked)
    told = [line.partition("] ")[2] for line in text.splitlines() if line.startswith("[")]
    return {each.text: line.removesuffix(f": {each.text}") for each in (USE, NEVER, BACKUP) for line in told if each.text in line}


def test_turns_are_marked_by_what_became_of_what_they_say(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, BACKUP)
    use, never = statement(USE), statement(NEVER)
    put(ledger, ONE, [use])
    put(ledger, TWO, [never])
    plain = {each.text: "user" for each in (USE, NEVER, BACKUP)}
    assert labels(ledger, way) == plain
    with ledger.writing() as database:
        reasoned.contradict(database, use.id, never.id, "they differ", 2_500)
    assert labels(ledger, way) == plain | {
        USE.text: f"user, contradicts [{never.id[:6]}], said on {DAY}",
        NEVER.text: f"user, contradicts [{use.id[:6]}], said on {DAY}",
    }  # fmt: skip
    with ledger.writing() as database:
        reasoned.supersede(database, use.id, never.id, 3_000)
    assert labels(ledger, way) == plain | {USE.text: "user, no longer so"}


def test_a_turn_of_which_something_still_holds_and_one_that_is_held_back_are_not_marked(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, BACKUP)
    use, too, never = statement(USE), statement(USE, "The orders are in Postgres"), statement(NEVER)
    put(ledger, ONE, [use, too])
    put(ledger, TWO, [never])
    with ledger.writing() as database:
        reasoned.supersede(database, use.id, never.id, 3_000)
    plain = {each.text: "user" for each in (USE, NEVER, BACKUP)}
    assert labels(ledger, way) == plain
    tell(ledger, *act("reject", too.id))
    assert labels(ledger, way) == plain | {USE.text: "user, no longer so"}


def test_a_turn_of_which_all_was_rejected_is_told_as_no_longer_so(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, BACKUP)
    use = statement(USE)
    put(ledger, ONE, [use])
    put(ledger, TWO, [statement(NEVER), statement(BACKUP), statement(BACKUP, "The orders are backed up")])
    tell(ledger, *act("reject", use.id), *act("reject", statement(BACKUP).id))
    assert labels(ledger, way) == {USE.text: "user, no longer so", NEVER.text: "user", BACKUP.text: "user"}


def test_a_turn_of_which_something_is_quarantined_is_not_told_before_it_is_accepted(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, BACKUP)
    use = statement(USE, quarantine="an order")
    put(ledger, ONE, [use, statement(USE, "The orders are in Postgres")])
    put(ledger, TWO, [statement(NEVER)])
    others = {NEVER.text: "user", BACKUP.text: "user"}
    assert labels(ledger, way) == others
    tell(ledger, *act("reject", use.id))
    assert labels(ledger, way) == others
    tell(ledger, *act("accept", use.id, at=9_500))
    assert labels(ledger, way) == {USE.text: "user", **others}


AGAIN = event(session="s2", key="u3", at=2_200, text="Use Postgres for the orders, please.", cwd="/p")


def test_a_turn_of_which_all_was_joined_into_the_same_said_elsewhere_still_holds_until_that_ends(
    ledger: Evidence, way: str
) -> None:
    tell(ledger, PLACE, USE, NEVER, AGAIN)
    use, again, never = statement(USE), statement(AGAIN), statement(NEVER)
    put(ledger, ONE, [use])
    put(ledger, TWO, [again, never])
    with ledger.writing() as database:
        assert reasoned.supersede(database, use.id, again.id, 3_000, joined=True)
    plain = {USE.text: "user", NEVER.text: "user"}
    assert labels(ledger, way) == plain
    with ledger.writing() as database:
        assert reasoned.supersede(database, again.id, never.id, 2_000, sure=0.8)
    assert labels(ledger, way) == plain | {USE.text: "user, no longer so"}
    tell(ledger, *act("reject", never.id))  # what stood in the place of what stands for it was wrong
    assert labels(ledger, way)[USE.text] == "user"


def test_what_says_otherwise_counts_before_what_only_says_the_same(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, AGAIN)
    use, again, never = statement(USE), statement(AGAIN), statement(NEVER)
    put(ledger, ONE, [use])
    put(ledger, TWO, [again, never])
    with ledger.writing() as database:
        assert reasoned.supersede(database, use.id, again.id, 3_000, joined=True)
        assert reasoned.supersede(database, use.id, never.id, 2_000, sure=0.6)
    assert labels(ledger, way)[USE.text] == "user, no longer so"
    assert rows(ledger, "SELECT superseded_by FROM memories WHERE id = ?", (use.id,)) == [(never.id,)]


def test_what_was_joined_twice_holds_as_long_as_the_last(ledger: Evidence, way: str) -> None:
    tell(ledger, PLACE, USE, NEVER, BACKUP, AGAIN)
    use, again, more = statement(USE), statement(AGAIN), statement(BACKUP)
    put(ledger, ONE, [use])
    put(ledger, TWO, [again, more])
    with ledger.writing() as database:
        assert reasoned.supersede(database, use.id, again.id, 3_000, joined=True)
        assert reasoned.supersede(database, again.id, more.id, 4_000, joined=True)
    assert labels(ledger, way)[USE.text] == "user"
    tell(ledger, *act("done", more.id, at=9_500))
    assert labels(ledger, way)[USE.text] == "user, no longer so"


def test_the_hook_and_the_ledger_tell_what_was_joined_by_one_condition() -> None:
    assert joined.JOINED == joining.JOINED
