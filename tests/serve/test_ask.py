"""A question gets an answer that rests on what was said, or "I do not know"; never something made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.recall.support import FLOOR, asked_words, support, tells, told_in
from hindbrain.serve import exits
from hindbrain.serve.answering import table
from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine, Ran, at

SAID = [
    ("plan", "user", "Use PostgreSQL for the orders service, not MySQL."),
    ("plan", "assistant", "I will use PostgreSQL and note the decision."),
    ("login", "user", "Why does the login test fail?"),
    ("login", "assistant", "The login test's clock was in UTC while the cookie used local time; I froze both."),
    ("build", "user", "please always run ruff before you commit"),
    ("build", "assistant", "Will do."),
    ("build", "user", "the nightly build takes 40 minutes, can we cache the docker layers?"),
    ("build", "assistant", "Yes: I added a registry cache to the build workflow, it takes 12 minutes now."),
    ("ops", "user", "The staging server is at stage.acme.test and deploys go out on Tuesdays only"),
    ("ops", "user", "retry failed webhooks five times with exponential backoff starting at 2 seconds"),
    ("ops", "assistant", "Implemented retry with backoff in src/hooks/deliver.py, five attempts."),
    ("team", "user", "Maria owns the billing module, ask her before changing invoices"),
    ("team", "user", "We moved from Redis to Valkey for the session cache because of the licence."),
    ("data", "user", "The import crashed with MemoryError on the 4 GB csv"),
    ("data", "assistant", "The csv was read whole; import_orders.py now streams it in chunks of 10,000 rows, which fixed it."),
    ("data", "user", "never push directly to main, open a pull request"),
    ("style", "user", "our API uses snake_case in JSON"),
    ("style", "user", "the feature flag for the new checkout is called CHECKOUT_V2"),
    ("style", "user", "PgBouncer listens on port 6432"),
    ("style", "user", "the orders database is reached through PgBouncer"),
    ("deutsch", "user", "Die Rechnungen werden nachts um drei als PDF verschickt."),
]
ANSWERED = {
    "which database do we use for orders?": "PostgreSQL",
    "what database does the orders service use": "PostgreSQL",
    "why did the login test fail?": "clock was in UTC",
    "how long does the nightly build take?": "12 minutes now",
    "what should be run before committing?": "ruff",
    "when do deploys happen?": "Tuesdays",
    "where is the staging server?": "stage.acme.test",
    "how often are webhooks retried?": "five times",
    "who owns billing?": "Maria",
    "who should I ask about invoices?": "Maria",
    "what do we use as session cache?": "Valkey",
    "what fixed the MemoryError?": "streams it in chunks",
    "may I push to main?": "never push directly",
    "what casing does the API use?": "snake_case",
    "what is the flag for the new checkout?": "CHECKOUT_V2",
    "where is retry implemented?": "src/hooks/deliver.py",
    "wann werden die Rechnungen verschickt?": "nachts um drei",
}
NEVER_SAID = [
    "what is the name of my cat?", "which cloud provider do we use?", "what is the capital of France?",
    "who owns the search module?", "what is the limit of the metrics exporter?", "which framework does the mobile app use?",
    "when is the release party?", "what is the wifi password?", "how do we rotate the TLS certificates?",
    "which payment provider handles refunds?", "what did Tom say about Kubernetes?", "how large is the production cluster?",
    "what is our vacation policy?", "which version of Java do we run?", "where are the terraform files?", "who is the CEO?",
    "what colour is the logo?", "why was GraphQL rejected?", "which font does the website use?",
    "which message broker do we use?", "when does the contract with the hosting company end?", "who reviews the frontend?",
    "how many users signed up last month?",
    "wie heißt der Hund vom Chef?", "¿cuál es la contraseña del servidor de correo?",
]  # fmt: skip


def tell(home: Path, folder: str, said: list[tuple[str, str, str]] | None = None) -> None:
    with Memory(home) as memory:
        for number, (session, role, text) in enumerate(SAID if said is None else said):
            moment = at(1 + number // 20, number % 20)
            memory.record(agent="claude-code", session=session, role=role, text=text, at=moment, project=folder)
        memory.settle_here()


@pytest.fixture
def run(run: CommandLine) -> CommandLine:
    tell(run.home.root, str(run.folder))
    return run


def test_what_was_said_is_answered_with_the_words_it_was_said_in(run: CommandLine) -> None:
    missed = {}
    with Memory(run.home.root) as memory:
        for question, words in ANSWERED.items():
            found = memory.ask(question, project=str(run.folder), model=False)
            if not found.known or not any(words in each.found.text for each in found.evidence[:3]):
                missed[question] = [each.found.text for each in found.evidence]
    assert missed == {}


def test_what_was_never_said_is_not_known(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        answers = {question: memory.ask(question, project=str(run.folder), model=False) for question in NEVER_SAID}
    assert [question for question, found in answers.items() if found.known] == []
    assert {found.text for found in answers.values()} == {"I do not know."}


def test_the_command_quotes_its_evidence_with_day_origin_and_id(run: CommandLine) -> None:
    ran = run("ask", "who", "owns", "billing?")
    (turn,) = [each["id"] for each in run.one("search", "Maria")][:1]
    said = f"[{turn}] 2026-11-01, user in claude-code: Maria owns the billing module, ask her before changing invoices\n"
    assert (ran.code, ran.out) == (0, said)


def test_not_known_has_a_code_of_its_own_and_says_what_nobody_spoke_of(run: CommandLine) -> None:
    ran = run("ask", "what is the wifi password?")
    assert ran == Ran(exits.UNKNOWN, "I do not know.\n", "nothing speaks of: wifi, password\n")
    data = run("ask", "what is the wifi password?", "--json")
    assert (data.code, data.data["known"], data.data["answer"], data.data["missing"]) == (
        9, False, "I do not know.", ["wifi", "password"],
    )  # fmt: skip


def test_what_comes_nearest_is_told_apart_from_an_answer(run: CommandLine) -> None:
    ran = run("ask", "who owns the search module?")
    assert (ran.code, ran.out) == (9, "I do not know.\n")
    assert ran.err.startswith("nearest: [e_") and "Maria owns the billing module" in ran.err
    assert "nothing speaks of: search\n" in ran.err


def test_two_steps_lead_to_what_no_single_turn_says(run: CommandLine) -> None:
    found = run.one("ask", "what port does the orders database have?")
    quotes = [each["quote"] for each in found["evidence"]]
    assert found["known"] and "PgBouncer listens on port 6432" in quotes
    explained = run("ask", "what port does the orders database have?", "--explain").err
    assert explained.startswith("searched for: what port does the orders database have?\nthen for: port pgbouncer reached\n")


def test_a_second_search_is_told_of(run: CommandLine) -> None:
    ran = run("ask", "which terraform files do we use?", "--explain")
    assert ran.code == 9 and "\nthen for: " in ran.err
    assert run("ask", "which terraform files do we use?", "--json").data["refined"]


OPEN = {  # what was only asked, what was said to it, and the question that nobody has answered
    "do we use Terraform for infra?": ("Should we use Terraform for infra?", "Could be."),
    "do we use RabbitMQ for the job queue?": ("What about using RabbitMQ for the job queue?", "Let me think."),
    "nehmen wir Grafana für die Metriken?": ("Sollen wir Grafana für die Metriken nehmen?", "Vielleicht."),
}


@pytest.mark.parametrize("question", OPEN)
def test_what_was_only_asked_is_no_answer_but_may_come_nearest(run: CommandLine, question: str) -> None:
    asked, reply = OPEN[question]
    tell(run.home.root, str(run.folder), [("open", "user", asked), ("open", "assistant", reply)])
    with Memory(run.home.root) as memory:
        found = memory.ask(question, project=str(run.folder), model=False)
    assert (found.known, found.text, [each.text for each in found.evidence]) == (False, "I do not know.", [asked])


def test_what_tells_something_beside_a_question_or_replies_to_one_is_an_answer(run: CommandLine) -> None:
    said = [
        ("infra", "user", "We use Terraform for infra. Should we pin its version?"),
        ("bus", "user", "Should we use Kafka for the event bus?"),
        ("bus", "assistant", "Yes, it keeps the order of events, so I added it to docker-compose."),
    ]  # fmt: skip
    tell(run.home.root, str(run.folder), said)
    with Memory(run.home.root) as memory:
        wanted = {"do we use Terraform for infra?": "We use Terraform", "do we use Kafka for the event bus?": "Yes, it keeps"}
        for question, words in wanted.items():
            found = memory.ask(question, project=str(run.folder), model=False)
            assert found.known and words in found.evidence[0].text


def test_the_text_of_an_answer_says_what_no_longer_holds(run: CommandLine) -> None:
    said = [("old", "user", "The billing database is PostgreSQL."), ("new", "user", "We moved the billing database to MySQL.")]
    tell(run.home.root, str(run.folder), said)
    with Memory(run.home.root) as memory:
        memory.settle()
        lines = memory.ask("which database does billing use?", project=str(run.folder), model=False).text.splitlines()
    assert [line.partition("] ")[2] for line in lines if "billing database" in line] == [
        "We moved the billing database to MySQL.", "The billing database is PostgreSQL. (no longer holds)",
    ]  # fmt: skip


def test_a_reply_is_evidence_for_what_it_was_asked_and_a_question_is_none(run: CommandLine) -> None:
    quotes = [each["quote"] for each in run.one("ask", "why did the login test fail?")["evidence"]]
    assert quotes == ["The login test's clock was in UTC while the cookie used local time; I froze both."]


def test_only_the_project_asked_for_answers(run: CommandLine, tmp_path: Path) -> None:
    tell(run.home.root, str(tmp_path / "other"), [("o", "user", "the wifi password is on the fridge")])
    assert run("ask", "what is the wifi password?").code == 9
    assert run("ask", "what is the wifi password?", "--all-projects").code == 0
    assert run("ask", "what is the wifi password?", "--project", str(tmp_path / "other")).code == 0


def test_what_was_replaced_is_no_answer_until_the_past_is_asked_for(run: CommandLine) -> None:
    old = run.one("remember", "the metrics exporter listens on port 9100")["id"]
    new = run.one("correct", old, "the metrics exporter listens on port 9200")["id"]
    found = run.one("ask", "what is the port of the metrics exporter?")
    assert [each["id"] for each in found["evidence"]] == [new]


def test_as_of_answers_with_what_was_known_then(run: CommandLine) -> None:
    assert run("ask", "who owns billing?", "--as-of", "2026-10-01").code == 9
    assert run("ask", "who owns billing?", "--as-of", "2026-11-30").code == 0


def test_an_empty_home_knows_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "empty") as memory:
        found = memory.ask("who owns billing?")
    assert (found.known, found.evidence, found.text) == (False, (), "I do not know.")


def test_without_the_table_words_alone_decide(run: CommandLine) -> None:
    asked = asked_words("who owns billing?", None)
    assert support(asked, "Maria owns the billing module", None).share == 1.0
    assert support(asked, "the wifi is down", None).share == 0.0


@pytest.mark.parametrize(
    "question", ["?", "!!!", "\udcff", "the of and", "\U0001f600", "\x1b[2J", "what is it?"],
    ids=["mark", "marks", "half a letter", "function words", "picture", "escape", "it"],
)  # fmt: skip
def test_a_question_that_names_nothing_is_not_known(run: CommandLine, question: str) -> None:
    ran = run("ask", "--", question)
    assert (ran.code, ran.out) == (9, "I do not know.\n") and ran.err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "question",
    ["who owns billing?" + " x" * 20_000, "who owns billing AND (", '"who owns billing', "who owns billing; DROP TABLE turns --",
     "who owns billing \x00 \u202e", "who owns billing? " * 500],
    ids=["long", "operators", "quote", "statement", "nothing and direction", "again and again"],
)  # fmt: skip
def test_any_text_is_a_safe_question(run: CommandLine, question: str) -> None:
    ran = run("ask", "--", question)
    assert ran.code in (0, 9) and ran.err.count("Traceback") == 0
    assert run("ask", "who owns billing?").code == 0


def test_stored_text_cannot_reach_the_terminal_alive(run: CommandLine) -> None:
    tell(run.home.root, str(run.folder), [("evil", "user", "the walrus token \x1b]52;c;cm0=\x07 is \u202esecret")])
    ran = run("ask", "what is the walrus token?")
    assert ran.code == 0 and ran.out.replace("\n", "").isprintable() and "\\x1b]52" in ran.out


def test_the_floor_lies_between_what_was_said_and_what_was_not() -> None:
    static = table()
    asked = asked_words("which cache do the sessions use?", static)
    assert support(asked, "We moved from Redis to Valkey for the session cache.", static).share > FLOOR
    assert support(asked, "I will use PostgreSQL and note the decision.", static).share < FLOOR


@pytest.mark.parametrize(
    "text", ["?" * 50_000, ".?" * 20_000, "a?b" * 20_000, "\n" * 50_000, "word " * 10_000 + "?", "\udcff?", ""],
    ids=["marks", "ends", "no ends", "lines", "long", "half a letter", "empty"],
)  # fmt: skip
def test_any_text_can_be_weighed(text: str) -> None:
    asked = asked_words("who owns billing?", None)
    assert 0.0 <= support(asked, told_in(text), None).share <= 1.0
    assert tells(text, asked) in (True, False)


def test_a_question_inside_a_turn_is_not_what_the_turn_tells() -> None:
    assert told_in("Who approves this? I need a field for the label format.") == " I need a field for the label format."
    assert told_in("Use v1.2 of it. Is that ok?") == "Use v1.2 of it." and told_in("Why does it fail?") == ""


def test_a_word_the_table_has_in_pieces_is_like_nothing_but_itself() -> None:
    static = table()
    asked = asked_words("when is pycon?", static)
    assert support(asked, "The circular import came from our own module called wcwidth.py.", static).share == 0.0
    assert support(asked, "PyCon is in May.", static).share == 1.0


def test_a_question_that_names_only_the_kind_of_answer_is_answered_by_what_speaks_of_its_first_word(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="we moved payments to Adyen last week", project="shop")
        memory.settle()
        assert memory.ask("which payment provider do we use?", project="shop").known
        assert not memory.ask("which identity provider do we use?", project="shop").known
