"""What the agent proposed and the user agreed to; and the few things an agent's word is enough for."""

from __future__ import annotations

import pytest

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.agreed import agreed
from hindbrain.reason.offers import offered
from hindbrain.reason.replies import Reply, reply
from tests.reason.talk import talk


def test_a_proposal_and_a_yes_are_a_decision_of_the_users() -> None:
    proposal = "My suggestion is one reader thread and a bounded channel, since the bound caps memory."
    turns = talk("u: threads?", f"a: A tar is a stream. {proposal} Alternatively rayon.", "u: makes sense to me, do it like that")
    text, why = "One reader thread and a bounded channel, since the bound caps memory", "the bound caps memory"
    assert agreed(turns) == [
        Statement("decision", text, ("2", "3"), proposal, 0.85, "user", why=why, instead_of="Alternatively rayon."),
    ]


@pytest.mark.parametrize(
    ("proposal", "yes", "text"),
    [
        ("I'd put it in Redis with a TTL of 10 minutes.", "sounds good", "Put it in Redis with a TTL of 10 minutes"),
        ("I would: jump straight to 5.2.", "Agreed. Start with the warnings.", "Jump straight to 5.2"),
        ("I'd suggest **five attempts, then it is parked**.", "yes, do the five", "Five attempts, then it is parked"),
        ("Plan: move auth into its own package.", "👍", "Move auth into its own package"),
        ("Should we log JSON in production?", "yes please", "Log JSON in production"),
        ("Ich würde es so machen: festes Layout, 7 Byte.", "Klingt vernünftig, mach so", "Festes Layout, 7 Byte"),
        ("Mein Vorschlag: Originale nach S3.", "passt", "Originale nach S3"),
        ("Propongo lo siguiente: una tabla `returns` con estados.", "dale", "Una tabla `returns` con estados"),
        ("Yo usaría cookies firmadas.", "perfecto, así", "Cookies firmadas"),
        ("I'd keep the index in memory and write it out at exit.", "You had me at memory. Let's do precisely that.",
         "Keep the index in memory and write it out at exit"),
        ("I'd keep the index in memory and write it out at exit.", "can't see a hole in that. and the size?",
         "Keep the index in memory and write it out at exit"),
        ("I'd keep the index in memory and write it out at exit.", "That matches my intuition, so yes.",
         "Keep the index in memory and write it out at exit"),
        ("Ich würde alles auf C++20 heben, der Compiler bleibt.", "Von mir aus, schadet ja nicht.",
         "Alles auf C++20 heben, der Compiler bleibt"),
        ("Yo pasaría los informes a un trabajo nocturno con su propia cola.", "tiene todo el sentido, me lo compro. y qué cola?",
         "Los informes a un trabajo nocturno con su propia cola"),
        ("La cola dejaría pasar a 300 alumnos a la vez.", "Me cuadra.", "La cola dejaría pasar a 300 alumnos a la vez"),
        ("For recipes with steps and tags I'd take Drift on top of SQLite.", "sold, build that",
         "For recipes with steps and tags I'd take Drift on top of SQLite"),
        ("In that case: we write our own frame parser as a module.", "yep. own parser",
         "We write our own frame parser as a module"),
        ("Premiums could be sent as strings in version 2.", "Let us do so, please.",
         "Premiums could be sent as strings in version 2"),
        ("I'd store every id in a table with a unique index.", "yep", "Store every id in a table with a unique index"),
    ],
)
def test_proposals_are_agreed_to_in_many_words(proposal: str, yes: str, text: str) -> None:
    turns = talk("u: and now?", f"a: {proposal}", f"u: {yes}")
    quote = proposal.rstrip("*.") if proposal.endswith("**") else proposal
    found = agreed(turns)
    assert [(each.kind, each.text, each.turns, each.trust) for each in found] == [("decision", text, ("2", "3"), "user")]
    assert found[0].quote == quote


KAFKA = "I'd suggest moving all of the order events to Kafka this spring."
OPTIONS = "Options: (a) a header, (b) /v2 in the path, (c) a query parameter."


@pytest.mark.parametrize(
    ("offer", "pick", "text"),
    [
        (OPTIONS, "b", "/v2 in the path"),
        (OPTIONS, "go with B", "/v2 in the path"),
        (OPTIONS, "sounds good, second one", "/v2 in the path"),
        (OPTIONS, "option 3 please", "A query parameter"),
        (OPTIONS, "the last one", "A query parameter"),
        (OPTIONS, "la primera me parece bien", "A header"),
        (OPTIONS, "no, the second one", "/v2 in the path"),
        (OPTIONS, "(a), with the name X-Api-Version and a default", "A header; with the name X-Api-Version and a default"),
        ("1. **Flags** via a service\n2. **Env vars** read at start\n3. A table", "2.", "Env vars read at start"),
        ("Variante 1: SQLite. Variante 2: Postgres.", "die zweite bitte", "Postgres"),
        ("Do you want soft deletes or a separate archive table?", "the latter", "A separate archive table"),
        ("Proposal: three layers with prefixes. Alternatively by domain.", "The first one.", "Three layers with prefixes"),
        ("Proposal: three layers with prefixes. Alternatively by domain.", "the second", "Alternatively by domain"),
    ],
)
def test_a_pick_is_resolved_to_what_was_offered(offer: str, pick: str, text: str) -> None:
    found = agreed(talk("u: how?", f"a: {offer}", f"u: {pick}"))
    assert [(each.kind, each.text.replace("**", ""), each.turns) for each in found] == [("decision", text, ("2", "3"))]
    assert found[0].quote in offer


def test_a_pick_may_follow_a_question_about_the_options() -> None:
    turns = talk("u: slow", f"a: {OPTIONS}", "u: how common is the second?", "a: Very common.", "u: ok (b)", "u: ok (b)")
    assert [(each.text, each.turns) for each in agreed(turns)] == [("/v2 in the path", ("2", "5"))]


@pytest.mark.parametrize(
    ("agent", "user"),
    [
        ("I'd suggest moving to Kafka.", "nah, overkill"),
        ("I'd suggest moving to Kafka.", "no"),
        ("I'd suggest moving to Kafka.", "nein, lieber nicht"),
        ("I'd suggest moving to Kafka.", "mejor no"),
        ("I'd suggest moving to Kafka.", "ok, but with Redis instead"),
        ("I'd suggest moving to Kafka.", "ok and what would that cost?"),
        ("I'd suggest moving to Kafka.", "should we?"),
        ("I'd suggest moving to Kafka.", "let me think about it"),
        ("I'd suggest moving to Kafka.", "ok let's do postgres then"),
        ("I'd suggest moving to Kafka.", "run the tests"),
        (KAFKA, "I have an issue with that"),
        (KAFKA, "postgres would be better"),
        (KAFKA, "makes sense. which version?"),
        (KAFKA, "ok so kafka. hm wait. leave it open"),
        (KAFKA, "dont you run that. i do it"),
        (KAFKA, "puede ser, más adelante"),
        (f"{KAFKA} Anything else you met lately?", "yes, the one from tuesday"),
        ("So the parser is the part that reads the frames.", "yes"),
        ("Raising the limit would only slow it down.", "makes sense"),
        ("I've moved it to Kafka.", "yes, great"),
        ("Want me to run the tests?", "yes"),
        ("I'd label the issue as help wanted.", "do that"),
        ("In general I'd recommend validating all input.", "ok"),
        ("Kafka or Redis would both do.", "the third"),
        (OPTIONS, "not the second"),
        (OPTIONS, "first fix the tests"),
        ('A reply: "I would put this into the next release, thanks a lot for all the work."', "Good, exactly that tone."),
        ("The logic is fine.", "> yes, do that\nwhat does this mean"),
        ("", "yes"),
    ],
)
def test_refusals_questions_one_off_steps_and_reports_decide_nothing(agent: str, user: str) -> None:
    assert agreed(talk("u: hm", f"a: {agent}", f"u: {user}")) == []


def test_a_question_for_a_yes_takes_nothing_from_the_proposal() -> None:
    turns = talk("u: hm", "a: I'd store every event id in a table with a unique index. Shall I?", "u: yep")
    assert [each.text for each in agreed(turns)] == ["Store every event id in a table with a unique index"]


def test_nobody_agrees_to_what_was_not_said_last() -> None:
    turns = talk("u: hm", "a: I'd suggest moving to Kafka.", "u: what else?", "a: Nothing comes to mind.", "u: yes, do that")
    assert agreed(turns) == []


def test_a_way_that_was_asked_for_and_told_to_be_taken_is_decided() -> None:
    turns = talk("u: ¿el reintento cómo lo haces?", "a: Sí: la cola se vacía con workmanager cuando hay red.", "u: perfecto, así")
    text = "La cola se vacía con workmanager cuando hay red"
    assert [(each.text, each.turns) for each in agreed(turns)] == [(text, ("2", "3"))]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes", Reply(yes=True, strong=True)),
        ("ok thanks", Reply(yes=True, rest="thanks")),
        ("nope", Reply()),
        ("", Reply()),
        ("letzteres", Reply(yes=True, strong=True, pick=1)),
        ("yes but not the second", Reply()),
        ("a bit more detail please", Reply()),
    ],
)
def test_a_reply_is_told_by_its_first_words(text: str, answer: Reply) -> None:
    assert reply(text) == answer


@pytest.mark.parametrize(
    "fact",
    [
        "The parser lives in `core/lex.rs`.",
        "`render` is only called from the exporter.",
        "In this repo sqlfluff enforces leading commas.",
        "Der Decoder liegt unter `src/payload/decode.c`.",
        "El esquema se define en `db/schema.sql`.",
    ],
)
def test_what_the_agent_establishes_about_the_project_is_a_fact_of_less_weight(fact: str) -> None:
    assert agreed(talk("u: where?", f"a: {fact}")) == [Statement("fact", fact, ("2",), fact, 0.6, "assistant")]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("I've moved it, the parser lives in `core/lex.rs`.", "ok"),
        ("The parser might live in `core/lex.rs`.", "ok"),
        ("The parser lives in `core/lex.rs`.", "no, that's the old one"),
        ("Does the parser live in `core/lex.rs`?", "ok"),
        ("The parser reads tokens one by one.", "ok"),
    ],
)
def test_reports_guesses_and_what_the_user_puts_right_are_no_facts(said: str, then: str) -> None:
    assert agreed(talk("u: where?", f"a: {said}", f"u: {then}")) == []


def test_how_something_is_done_is_kept_with_the_question() -> None:
    said, how = "`uv run app worker -q mail`.", "how do i start it locally again?"
    turns = talk(f"u: thanks. {how}", f"a: {said} It needs a database.", "u: works")
    assert agreed(turns) == [Statement("procedure", f"{how} {said}", ("2", "1"), said, 0.6, "assistant")]


def test_steps_with_their_purpose_are_a_procedure() -> None:
    said = "To regenerate the client, copy the schema to packages/api, then run `pnpm gen:api`."
    assert agreed(talk("u: hm", f"a: {said}")) == [Statement("procedure", said, ("2",), said, 0.6, "assistant")]


def test_a_chain_that_worked_more_than_once_is_a_procedure() -> None:
    chain = "make image SVC=router && argocd app sync router-stg"
    routine = ("c: pytest -q", "r: ok", "c: pytest -q", "r: ok", "c: ls", "r: a", "c: ls", "r: a")
    turns = talk(f"c: {chain}", "r: ok", f"c: {chain}", "r: ok", *routine)
    assert agreed(turns) == [Statement("procedure", f"Run 2 times without error: `{chain}`", ("3", "4"), chain, 0.5, "assistant")]


def test_what_failed_as_often_as_it_worked_is_no_procedure() -> None:
    chain = "make image && argocd app sync x"
    assert agreed(talk(f"c: {chain}", "r: ok", f"c: {chain}", "r: ok", f"c: {chain}", "e: no", f"c: {chain}", "e: no")) == []


def test_options_out_of_order_or_alone_are_none() -> None:
    assert offered("(b) x, (a) y").options == ()
    assert offered("1. only one").options == ()


@pytest.mark.parametrize("number", range(6))
def test_two_hundred_thousand_letters_are_read_without_harm(number: int) -> None:
    bit = ("I'd ", "(a) (b) ", "x or y? ", "ok, ", "lives in `", "the first ")[number]
    big = (bit * 100_000)[:200_000]
    turns = [*talk("u: how? " + big, "a: I'd use X now. " + big, "u: yes " + big), Said("4", "", big)]
    texts = {turn.id: turn.text for turn in turns}
    assert all(each.quote in texts[each.turns[0]] and len(each.quote) <= 300 for each in agreed(turns))


@pytest.mark.parametrize(
    ("asked", "offer", "answer", "text"),
    [
        ("Should we use Redis for sessions?", "I'd recommend PostgreSQL to keep it simple.", "Sounds good, do that",
         "sessions: PostgreSQL to keep it simple"),
        ("Which provider should we take for transactional mail?",
         "Two options: (1) SendGrid, cheap (2) Postmark, better deliverability", "the second one",
         "transactional mail: Postmark, better deliverability"),
        ("Was nehmen wir für die Sessions?", "Ich würde PostgreSQL nehmen, dann bleibt es einfach.", "Klingt gut, mach das so",
         "Sessions: PostgreSQL nehmen, dann bleibt es einfach"),
    ],
)  # fmt: skip
def test_what_was_agreed_to_says_what_was_asked_about(asked: str, offer: str, answer: str, text: str) -> None:
    (found,) = agreed(talk(f"u: {asked}", f"a: {offer}", f"u: {answer}"))
    assert (found.text, found.turns) == (text, ("2", "1", "3"))
    assert found.quote in offer


@pytest.mark.parametrize(
    ("asked", "offer", "text"),
    [
        ("Should we use Redis for sessions?", "I'd recommend keeping sessions in PostgreSQL with a nightly cleanup.",
         "Keeping sessions in PostgreSQL with a nightly cleanup"),
        ("Can you check the logs?", "I'd recommend PostgreSQL to keep it simple.", "PostgreSQL to keep it simple"),
        ("What would you do for us?", "I'd recommend PostgreSQL to keep it simple.", "PostgreSQL to keep it simple"),
    ],
)  # fmt: skip
def test_what_says_itself_what_it_is_about_is_told_as_it_is(asked: str, offer: str, text: str) -> None:
    (found,) = agreed(talk(f"u: {asked}", f"a: {offer}", "u: Sounds good, do that"))
    assert (found.text, found.turns) == (text, ("2", "3"))
