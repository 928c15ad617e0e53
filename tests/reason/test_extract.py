"""What the rules make of what a user says, in three languages: the kinds, the words, and what is left alone."""

from __future__ import annotations

import pytest

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.extract import extract
from hindbrain.reason.rounding import scope_of
from hindbrain.reason.rules import said
from hindbrain.recall.rank import RULE_CONFIDENCE

HELLO = {
    "en": "hi, this is the shop, we have the checkout to do today",
    "de": "hallo, wir haben heute noch etwas mit dem Shop zu tun",
    "es": "hola, hoy tenemos que hacer una cosa con la tienda, es para el pago",
}
REPLY = "I set it up with mongo and npm on port 3000. Options would be Express, Fastify, Redis, Terraform, Pulumi or Vue."


def talk(text: str, language: str = "en", reply: str = REPLY) -> list[Said]:
    return [Said("t0", "user", HELLO[language]), Said("t1", "assistant", reply), Said("t2", "user", text)]


def found(text: str, language: str = "en", reply: str = REPLY) -> list[Statement]:
    return [each for each in said(talk(text, language, reply)) if each.turns == ("t2",)]


def kinds(texts: list[str], language: str) -> dict[str, list[str]]:
    return {text: [each.kind for each in found(text, language)] for text in texts}


def all_of(kind: str, texts: list[str]) -> dict[str, list[str]]:
    return {text: [kind] * bool(kind) for text in texts}


def test_choices_are_decisions() -> None:
    english = [
        "we'll go with Fastify, Express is basically unmaintained", "ok redis it is", "we settled on UUIDv7 for all primary keys",
        "hmm ok you convinced me, Redis then", "Terraform over Pulumi it is", "let's switch from npm to pnpm",
        "new plan: ship the CLI first",
        "I'd go for protobuf, json is eating our bandwidth", "forget mongo, we take postgres",
    ]  # fmt: skip
    german = ["Wir nehmen Postgres, MySQL fliegt raus", "Dann eben Vue", "wir haben uns für Go entschieden", "Redis kommt weg"]
    spanish = ["nos quedamos con Laravel", "vamos con la opción B", "pues Redis entonces", "quitamos Redis y ponemos NATS"]
    assert kinds(english, "en") == all_of("decision", english)
    assert kinds(german, "de") == all_of("decision", german)
    assert kinds(spanish, "es") == all_of("decision", spanish)


def test_a_few_words_without_a_verb_that_name_something_choose_it() -> None:
    english = ["fastify, express gets no patches", "error pages in german, logs in english", "terraform, for the vpn part too"]
    assert kinds(english, "en") == all_of("decision", english)
    assert [each.text for each in found("fastify then. pnpm, not npm.")] == ["fastify then", "pnpm, not npm"]
    assert [(each.kind, each.text) for each in found("terraform, pulumi maybe one day")] == [("decision", "terraform")]
    noise = ["one thing less to patch", "only if you know", "https://hub.example/some-package", "fastify, or what do you think?",
             "port 3000 taken!", "numbers from this morning:"]  # fmt: skip
    assert kinds(noise, "en") == all_of("", noise)


def test_another_number_than_the_one_the_assistant_took_puts_it_right() -> None:
    text = "5180, the proxy lets nothing else through"
    assert [each.kind for each in found(text, reply="Port 5173 is taken, I'll use 5174.")] == ["correction"]
    assert [each.kind for each in found(text, reply="Port 5173 or 5174?")] == ["decision"]


def test_what_is_said_of_the_project_in_the_present_tense_is_how_it_is() -> None:
    facts = ["test mode events come from the eu account", "the export job feeds three downstream teams in Lyon"]
    assert kinds(facts, "en") == all_of("fact", facts)
    told = ["the export job blew up in my face", "I see the export job in Lyon", "when the export job feeds Lyon again"]
    assert kinds(told, "en") == all_of("", told)
    assert {each.confidence for each in found(facts[1])} == {0.5}


def test_an_order_for_another_day_and_what_is_owed_by_then_is_left_to_do() -> None:
    english = [
        "ask Sven for the swap date, not today", "legal wants the retention table by the 6th", "login needs a rewrite sometime",
    ]  # fmt: skip
    assert kinds(english, "en") == all_of("task", english)
    assert kinds(["ask Sven for the swap date"], "en") == {"ask Sven for the swap date": []}


def test_what_stands_behind_a_colon_is_said_whatever_leads_to_it() -> None:
    told = found("What you could not know: the ledger runs on Java 21")
    assert [(each.kind, each.text) for each in told] == [("fact", "the ledger runs on Java 21")]
    assert found("The readme says: the ledger runs on Java 21") == []


def test_two_things_said_of_two_things_are_two_facts_and_a_semicolon_joins() -> None:
    both = found("The minimum target is iOS 16, and our designer Marguerite owns the colour palette.")
    assert [each.text for each in both] == ["The minimum target is iOS 16", "our designer Marguerite owns the colour palette"]
    one = found("Marguerite is on leave until June; Ferdinand approves the visual changes.")
    assert [each.text for each in one] == ["Marguerite is on leave until June; Ferdinand approves the visual changes"]


def test_a_reminder_asked_for_is_a_task_and_a_question_is_nothing() -> None:
    asked = found("Would you remind me next week that the screenshots need redoing in Dutch?")
    assert [each.kind for each in asked] == ["task"]
    assert found("Would you say that the screenshots need redoing in Dutch?") == []


def test_who_writes_both_words_of_a_contraction_says_the_same() -> None:
    for short, full in (("we're dropping Celery", "we are dropping Celery"), ("let's switch to pnpm", "let us switch to pnpm")):
        assert [each.kind for each in found(full)] == [each.kind for each in found(short)] == ["decision"]


def test_rules_that_last_are_instructions() -> None:
    english = [
        "Never push straight to main.", "always run `make lint` before you commit", "every endpoint needs an integration test",
        "Don't touch anything under vendor/ without asking me", "Commit messages in imperative mood, please",
        "no console.log in production code",
        "PRs must stay under 400 lines", "use tabs, not spaces, in this repo", "please don't add comments that restate the code",
        "When you write migrations, make them reversible", "secrets belong in vault", "keep functions under 50 lines",
    ]  # fmt: skip
    german = [
        "Nie direkt auf main pushen", "Ab jetzt nur noch Englisch in den Commits", "Keine neuen Abhängigkeiten ohne Rücksprache",
    ]  # fmt: skip
    spanish = ["nunca hagas push a main", "los mensajes de commit en inglés, por favor", "No añadas dependencias sin preguntarme"]
    assert kinds(english, "en") == all_of("instruction", english)
    assert kinds(german, "de") == all_of("instruction", german)
    assert kinds(spanish, "es") == all_of("instruction", spanish)


def test_likings_corrections_facts_tasks_and_ways_are_told_apart() -> None:
    said_so = {
        "I prefer composition over inheritance": "preference", "honestly I can't stand YAML": "preference",
        "no, use pnpm": "correction", "that's not the port, it's 8081": "correction",
        "wait, we're not on AWS, this is GCP": "correction",
        "the staging database lives in eu-west-1": "fact", "Dana owns the billing service": "fact",
        "fyi the `orders` table has 200M rows": "fact",
        "we still need to backfill the 2024 rows": "task", "remind me to rotate the keys on Friday": "task",
        "to cut a release: bump version.py, tag it, then run make dist": "procedure",
        "If the queue gets stuck: stop the worker, run `bin/requeue`, start the worker again": "procedure",
    }  # fmt: skip
    auf_deutsch = {
        "mir sind kleine PRs lieber": "preference", "nein, der Port ist 9090": "correction",
        "Die Staging-Umgebung läuft auf Hetzner": "fact",
        "Wir müssen noch die alten Logs löschen": "task",
        "Ein Release geht so: Version hochsetzen, taggen, dann `make dist`": "procedure",
    }  # fmt: skip
    en_castellano = {
        "prefiero funciones pequeñas": "preference", "Eso está mal, la tabla se llama clientes_v2": "correction",
        "la API escucha en el puerto 8080": "fact", "recuérdame renovar el certificado el lunes": "task",
        "para desplegar: haces merge a main, esperas al CI y luego ejecutas `make deploy`": "procedure",
    }  # fmt: skip
    assert kinds([*said_so], "en") == {text: [kind] for text, kind in said_so.items()}
    assert kinds([*auf_deutsch], "de") == {text: [kind] for text, kind in auf_deutsch.items()}
    assert kinds([*en_castellano], "es") == {text: [kind] for text, kind in en_castellano.items()}


def test_questions_wonderings_orders_reports_and_jokes_are_left_alone() -> None:
    english = [
        "should we use Redis?", "can you run the tests", "run the tests again please", "we could move to Kafka one day",
        "if we used Redis we wouldn't need this table", "I'm not saying we should rewrite it", "thanks, that looks great",
        "at my last job we used SVN", "they always deploy on Fridays, crazy", "don't change that file yet",
        "let's look at the logs first",
        "either Redis or memcached, I haven't decided", "the README says you should always use yarn",
        "just kidding, we're not moving to Perl",
        "I saw a blog post saying never use ORMs", "use a dict here instead of the list",
        "some people never write tests, can you believe it",
        "what if we always compress", "the tests are failing again", "bump the version and cut a release", "never mind, found it",
    ]  # fmt: skip
    german = [
        "kannst du die Tests laufen lassen", "Vielleicht sollten wir auf Bun wechseln", "Mach mal einen Commit",
        "danke, passt so",
        "In meiner alten Firma haben wir SVN benutzt", "der Build ist schon wieder kaputt", "Was hältst du von GraphQL",
    ]  # fmt: skip
    spanish = [
        "¿usamos Redis?", "puedes ejecutar los tests", "quizás deberíamos cambiar a Bun", "en mi anterior trabajo usábamos SVN",
        "no digo que haya que reescribirlo", "el build está roto otra vez", "mira los logs",
    ]  # fmt: skip
    assert kinds(english, "en") == all_of("", english)
    assert kinds(german, "de") == all_of("", german)
    assert kinds(spanish, "es") == all_of("", spanish)


def test_fillers_are_cut_and_negation_and_values_stay() -> None:
    texts = [
        "ok so, never retry more than 3 times", "hm, and we no longer use X-Ray, only OTel 1.27",
        "oh btw prod is NOT in us-east-1",
    ]  # fmt: skip
    assert [[each.text for each in found(text)] for text in texts] == [
        ["never retry more than 3 times"], ["we no longer use X-Ray, only OTel 1.27"], ["prod is NOT in us-east-1"],
    ]  # fmt: skip


def test_one_sentence_may_say_two_things() -> None:
    two = found("Our API listens on port 8443, so Caddy it is for the proxy. and remind me to open the firewall on Monday")
    assert [(each.kind, each.text) for each in two] == [
        ("fact", "Our API listens on port 8443"), ("decision", "Caddy it is for the proxy"),
        ("task", "remind me to open the firewall on Monday"),
    ]  # fmt: skip


def test_a_few_words_are_said_together_with_what_follows_them() -> None:
    said_together = found("Fastify. Express has had no release in 2 years.")
    assert [(each.kind, each.quote) for each in said_together] == [("decision", "Fastify. Express has had no release in 2 years")]


def test_a_choice_carries_its_reason_and_what_it_is_instead_of() -> None:
    (choice,) = found("let's switch to Fastify instead of Express, because its plugins are typed")
    assert (choice.why, choice.instead_of) == ("its plugins are typed", "Express")


def test_a_leading_pronoun_is_told_by_what_stood_before() -> None:
    (rule,) = found("It's generated, so never edit it by hand", reply="I have changed `gen/schema.ts` for you.")
    assert rule.text == "gen/schema.ts: It's generated, so never edit it by hand"
    assert rule.quote == "It's generated, so never edit it by hand"


def test_what_takes_up_the_sentence_before_it_is_told_with_it() -> None:
    texts = {
        "40 rows are a lot on a phone. Make it 25 from now on.": "40 rows are a lot on a phone. Make it 25 from now on",
        "40 Zeilen sind am Handy zu viel. Ab jetzt mach das mit 25.": "40 Zeilen sind am Handy zu viel. Ab jetzt mach das mit 25",
        "40 rows are a lot. From now on use 25 rows on phones.": "From now on use 25 rows on phones",
        "Ok thanks. Make it 25 from now on.": "Make it 25 from now on",
        "Do the docs say 40 rows? Make that 25 at most, always.": "Make that 25 at most, always",
    }
    for text, wanted in texts.items():
        told = extract(talk(text, "de" if "Zeilen" in text else "en"))
        assert wanted in [each.text for each in told], (text, told)
        (made,) = [each for each in told if each.text == wanted]
        assert made.quote in text
        assert not [each for each in told if wanted.startswith(f"{each.text}. ")], "what leads to it is not told twice"


def test_the_next_thing_is_no_reason_for_the_last_one() -> None:
    (first, *_) = found("We use Redis for the sessions. And Mira owns the importer.")
    assert (first.kind, first.why) == ("decision", "")
    assert found("We use Redis for the sessions. Mongo is too slow for them.")[0].why == "Mongo is too slow for them"


def test_how_to_talk_to_a_person_holds_everywhere_and_the_rest_in_the_project() -> None:
    expected = {"I like short answers": "global", "I prefer `ruff` over black": "project", "never push to main": "project"}
    assert {text: each.scope for text in expected for each in found(text)} == expected


def test_what_names_this_place_or_answers_of_others_holds_in_the_project() -> None:
    rules = [
        "Error messages must never contain stack traces.", "Queue messages must never be deleted here.",
        "Never send short messages to customers in this repo.", "In this project commit messages start with the ticket number",
        "Never use emojis in this repo", "Don't use emojis in commits in this repo", "Always answer in German in this repo",
        "Always validate responses of the payment gateway", "Never change the language of the website",
        "Never send short answers to customers", "The bot must always reply in German", "Short responses must never be cached",
        "Antworte in diesem Projekt immer auf Deutsch", "Der Bot soll immer auf Deutsch antworten",
        "Hier bitte nur kurze Antworten", "Responde siempre en inglés en este repo", "Aquí siempre respuestas cortas",
        "Las respuestas del servidor siempre en español",
        "Always test with German umlauts", "In all projects of the solution nullable stays on",
        "Always use StateFlow, everywhere", "Call me before you deploy",
    ]  # fmt: skip
    assert [text for text in rules if scope_of("instruction", text) != "project"] == []
    told = [each for text in rules for each in found(text)]
    assert len(told) > len(rules) // 2 and {each.scope for each in told} == {"project"}


def test_what_a_person_says_of_all_projects_or_of_the_answers_they_get_holds_everywhere() -> None:
    rules = [
        "Always answer in German", "From now on reply in Spanish", "Keep your explanations short", "Please always call me Dana",
        "Never use emojis in your answers", "You should always answer in plain English", "In all projects use pnpm",
        "Always, in every repo, run the linter first", "Everywhere: never push to main", "Antworte immer auf Deutsch",
        "Immer auf Deutsch antworten", "Antworte immer kurz und knapp", "In allen Projekten immer nur pnpm verwenden",
        "Überall: niemals direkt auf main pushen", "Respóndeme siempre en español", "Responde siempre en español",
        "En todos los proyectos usa siempre pnpm",
    ]  # fmt: skip
    likings = [
        "I prefer tabs over spaces everywhere", "I prefer short answers without any preface", "Mir sind kurze Antworten lieber",
        "Prefiero respuestas cortas",
    ]  # fmt: skip
    assert [text for text in rules if scope_of("instruction", text) != "global"] == []
    assert [text for text in likings if scope_of("preference", text) != "global"] == []
    assert [(each.kind, each.scope) for each in found("Always answer in German")] == [("instruction", "global")]
    assert scope_of("fact", "Short answers are kept in all projects") == "project"


def test_what_is_withdrawn_in_the_next_sentence_is_not_kept() -> None:
    texts = [
        "we're moving to Perl. just kidding", "let's drop Redis then. no, forget it",
        "Never deploy on Fridays. I'm not saying we should.",
    ]  # fmt: skip
    assert [found(text) for text in texts] == [[], [], []]


def test_what_a_user_takes_back_gives_way_to_what_comes_next() -> None:
    (choice,) = found("ok I take that back, use Express, Fastify's docs are too thin")
    assert (choice.kind, choice.text) == ("decision", "use Express, Fastify's docs are too thin")


def test_the_quote_is_where_the_statement_was_said_and_the_text_has_single_spaces() -> None:
    (rule,) = found("ok.  We   always squash\tbefore a merge to main.  thanks")
    assert (rule.quote, rule.text) == ("We   always squash\tbefore a merge to main", "We always squash before a merge to main")


def test_the_same_session_gives_the_same_ids() -> None:
    session = [
        *talk("we'll go with Fastify. never push to main. Dana owns the billing service."),
        Said("t3", "tool_call", "npm test", tool="Bash"),
    ]  # fmt: skip
    assert [each.id for each in extract(session)] == [each.id for each in extract(list(session))]
    assert len({each.id for each in extract(session)}) == 3


def in_english_work(text: str) -> list[tuple[str, float]]:
    """What is made of a sentence in a session that is English but for it."""
    turns = [
        Said("t0", "user", "Run the tests for the api module"), Said("t1", "tool_call", "pytest -q", "Bash", command="pytest -q"),
        Said("t2", "tool_result", "12 passed", "Bash"), Said("t3", "assistant", "All 12 tests pass."), Said("t4", "user", text),
        Said("t5", "assistant", "ok"),
    ]  # fmt: skip
    return [(each.kind, each.confidence) for each in extract(turns) if each.turns == ("t4",)]


def test_never_and_always_with_an_order_are_rules_in_every_language() -> None:
    rules = [
        "Never push to main", "Always use pnpm", "Nunca hagas push a main", "Nunca despliegues los viernes", "Nunca uses var",
        "Nunca borres datos de producción", "Nunca subas claves al repositorio", "No uses nunca var", "Nunca hacer push a main",
        "Usa siempre pnpm", "Siempre ejecuta los tests", "Por favor, usa siempre pnpm", "Jamás toques la rama release",
        "Pushe niemals direkt auf main", "Verwende niemals var", "Nie auf main pushen", "Deploye nie freitags",
        "Lösche niemals Produktionsdaten", "Committe niemals Secrets", "Niemals Secrets committen", "Benutze immer pnpm",
        "Immer pnpm verwenden", "Immer die Tests laufen lassen, bevor du committest", "Fass die Migrationen nie an",
    ]  # fmt: skip
    assert {text: in_english_work(text) for text in rules} == {text: [("instruction", 0.85)] for text in rules}


def test_what_always_or_never_happens_is_no_rule() -> None:
    told = [
        "Nunca hagas push a main?", "Pushe niemals direkt auf main?", "Nunca he visto este error", "Nunca funciona a la primera",
        "Siempre falla el test", "Siempre sale rojo", "Nunca probé eso", "Siempre usábamos npm", "Nie klappt was",
        "Immer noch rot",
        "Immer mit der Ruhe", "Nie im Leben", "Nie so etwas gesehen", "Immer müssen wir warten", "Nie funktioniert der Build",
        "Immer schlägt der Test fehl", "Always the same error", "Never seen that before", "Siempre pasa lo mismo",
    ]  # fmt: skip
    assert [text for text in told if any(kind == "instruction" for kind, _ in in_english_work(text))] == []


WORKING = (
    Said("t0", "user", "Run the tests for the api module", at=1), Said("c", "tool_call", "pytest -q", tool="Bash", at=2),
    Said("r", "tool_result", "12 passed", tool="Bash", at=3), Said("a", "assistant", "All 12 tests pass.", at=4),
)  # fmt: skip


def kinds_in_work(text: str) -> list[tuple[str, float]]:
    turns = [*WORKING, Said("t1", "user", text, at=5), Said("t2", "assistant", "OK.", at=6)]
    return [(each.kind, each.confidence) for each in extract(turns)]


@pytest.mark.parametrize(
    "text",
    [
        "Don't push to main", "Do not force push.", "Please don't mock the database in tests", "Avoid global state",
        "Only use pnpm", "don’t squash merge", "Don't use var", "Never commit secrets",
    ],
)  # fmt: skip
def test_a_plain_prohibition_is_a_rule_that_is_told(text: str) -> None:
    ((kind, sure),) = kinds_in_work(text)
    assert kind in ("instruction", "correction") and sure >= RULE_CONFIDENCE


@pytest.mark.parametrize(
    "text",
    ["Don't run it yet", "don't change that now", "Don't push this time",
     "Don't worry about the tests", "don't bother", "Don't you think it is too slow?", "Avoid it for now"],
)  # fmt: skip
def test_what_is_not_to_be_done_this_once_is_no_rule(text: str) -> None:
    assert not [kind for kind, _ in kinds_in_work(text) if kind in ("instruction", "preference", "correction")]


@pytest.mark.parametrize(
    "text",
    ["Please rename function parse to parse_line in api/reader.py", "Refactor handler_9 in api/handlers.py to async",
     "Please write the migration for the orders table", "Delete the unused import in main.py",
     "add type hints to reader.py", "Please move the helper to utils.py and run the tests again"],
)  # fmt: skip
def test_a_single_step_of_the_work_is_not_kept(text: str) -> None:
    assert kinds_in_work(text) == []


@pytest.mark.parametrize(
    "text",
    ["Always add type hints to new functions", "Write migrations by hand, never generate them",
     "Rename nothing in api/ without asking me"],
)  # fmt: skip
def test_what_holds_for_every_such_step_is_kept(text: str) -> None:
    assert kinds_in_work(text)
