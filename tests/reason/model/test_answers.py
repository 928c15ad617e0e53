"""A sentence of an answer is one that its evidence says: in other words, and in words of the question; nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.reason.model.answers import unfounded

ORDERS = "We use PostgreSQL 15 for orders and inventory."
UV = "2026-03-01 We switched to uv, pip is gone."
HONEST = [
    ("which database do we use for orders?", [ORDERS], "Orders are stored in PostgreSQL 15."),
    ("which database do we use for orders?", [ORDERS], "You use PostgreSQL 15 for orders and inventory."),
    ("Are orders in MySQL?", [ORDERS], "No, orders are in PostgreSQL 15."),
    ("Are orders in PostgreSQL?", [ORDERS], "Yes, orders and inventory use PostgreSQL 15."),
    ("who owns billing?", ["Maria owns the billing module, ask her before changing invoices"], "Maria owns billing."),
    ("who owns billing?", ["Maria owns the billing module, ask her before changing invoices"],
     "Maria is responsible for the billing module."),
    ("why was Redis dropped?", ["Redis was dropped because it lost sessions on restart."],
     "Redis was dropped because it lost sessions when it restarted."),
    ("why was Redis dropped?", ["We dropped Redis because it lost sessions on restart."],
     "Redis is no longer used since it lost sessions on restart."),
    ("Who stores card data?", ["We don't store card data, Stripe does."], "Stripe stores the card data."),
    ("do we store card data?", ["We don't store card data, Stripe does."],
     "No, card data is not stored here; Stripe does that."),
    ("how often do we deploy?", ["We deploy every Tuesday with Kamal."], "Deploys happen every Tuesday, with Kamal."),
    ("tabs or spaces?", ["We use tabs, never spaces."], "Tabs are used, not spaces."),
    ("may I push to main?", ["Never push to main without a review by Ada."],
     "Pushing to main is not allowed without a review by Ada."),
    ("Which port does the API listen on?", ["It listens on 8085."], "The API listens on port 8085."),
    ("which database did we have before?", ["We moved from MySQL to PostgreSQL for the orders service."],
     "The orders service used MySQL before it moved to PostgreSQL."),
    ("since when do we use uv?", ["2026-03-01 We switched to uv, pip is gone."],
     "uv has been used since March 2026; pip is gone."),
    ("how many replicas?", ["we run three replicas of the orders db"], "There are 3 replicas of the orders database."),
    ("Welche Datenbank nutzen wir für Bestellungen?", ["Wir nutzen PostgreSQL 15 für Bestellungen und Lager."],
     "Die Bestellungen liegen in PostgreSQL 15."),
    ("Welche Datenbank nutzen wir für die Bestellungen?", [ORDERS], "Für die Bestellungen wird PostgreSQL 15 genutzt."),
    ("Wer betreut die Abrechnung?", ["Für die Abrechnung ist Maria zuständig."], "Maria ist für die Abrechnung zuständig."),
    ("Wann deployen wir?", ["Wir deployen nur dienstags mit Kamal."], "Deployt wird nur dienstags, mit Kamal."),
    ("Dürfen wir direkt auf main pushen?", ["Bitte nie direkt auf main pushen."], "Nein, direkt auf main wird nicht gepusht."),
    ("¿Qué base de datos usamos para los pedidos?", ["Usamos PostgreSQL 15 para los pedidos."],
     "Los pedidos se guardan en PostgreSQL 15."),
    ("¿Quién lleva la facturación?", ["María lleva la facturación, pregúntale antes de cambiar facturas."],
     "María lleva la facturación."),
    ("¿Por qué quitamos Redis?", ["Quitamos Redis porque perdía sesiones al reiniciar."],
     "Se quitó Redis porque perdía sesiones al reiniciar."),
    ("¿Podemos hacer push a main?", ["Nunca hagas push a main sin revisión."], "No, nunca se hace push a main sin revisión."),
    ("where is staging?", ["staging is at stage.acme.test"], "Staging is at stage.acme.test."),
    ("what do I run before a commit?", ["always run make lint before you commit"], "Run `make lint` before every commit."),
    ("which db now?", ["2026-01-02 orders are kept in MySQL", "2026-03-01 We moved the orders to PostgreSQL"],
     "Orders moved from MySQL to PostgreSQL on 2026-03-01."),
    ("what does the worker do at night?", ["Between 23:00 and 07:00 no model is used unless model_night allows it."],
     "Between 23:00 and 07:00 no model is used, unless model_night allows it."),
    ("how do we deploy?", ["To deploy: run make image, then kamal deploy, then check the status page."],
     "You run make image, then kamal deploy, and check the status page."),
    ("how are commits written?", ["I like short commit messages"], "You like short commit messages."),
    ("how are commits written?", ["I like short commit messages"], "The user prefers short commit messages."),
    ("what is slow?", ["Tests are slow because of the browser ones."], "The tests are slow because of the browser ones."),
    ("is the cache still on Redis?", ["The cache moved from Redis to Valkey last week."],
     "No, the cache moved from Redis to Valkey."),
    ("is the cache still on Redis?", ["The cache moved from Redis to Valkey last week."],
     "The cache is on Valkey now, no longer on Redis."),
    ("what did we turn down?", ["we use PostgreSQL for orders because of jsonb, not SQLite"],
     "SQLite was turned down; PostgreSQL is used because of jsonb."),
    ("why PostgreSQL?", ["we use PostgreSQL for orders because of jsonb, not SQLite"], "Because of jsonb."),
    ("why PostgreSQL?", ["we use PostgreSQL for orders because of jsonb, not SQLite"],
     "PostgreSQL was chosen for its jsonb support."),
    ("Warum haben wir Redis rausgeworfen?", ["Redis ist raus, weil es beim Neustart Sitzungen verloren hat."],
     "Redis wurde entfernt, weil es beim Neustart Sitzungen verloren hat."),
    ("Wie heißt der Staging-Server?", ["Der Staging-Server ist stage.acme.test."], "Der Staging-Server heißt stage.acme.test."),
    ("Was mache ich vor dem Commit?", ["Vor jedem Commit bitte ruff laufen lassen."], "Vor jedem Commit läuft ruff."),
    ("Tabs oder Leerzeichen?", ["Wir nehmen Tabs statt Leerzeichen."], "Tabs statt Leerzeichen."),
    ("¿Dónde está staging?", ["staging está en stage.acme.test"], "Staging está en stage.acme.test."),
    ("¿Cuándo se despliega?", ["Desplegamos los martes con Kamal."], "Se despliega los martes con Kamal."),
    ("¿Tabuladores o espacios?", ["usamos tabuladores y nunca espacios"], "Se usan tabuladores, nunca espacios."),
    ("who reviews?", ["Ada reviews all PRs."], "Ada reviews all pull requests."),
    ("what broke the build?", ["The build failed with ModuleNotFoundError: foo, fixed by pip install foo"],
     "The build failed with ModuleNotFoundError: foo; it was fixed by `pip install foo`."),
    ("which port?", ["The API listens on port 8085."], "Port 8085."),
    ("Do we still use Jenkins?", ["CI runs on GitHub Actions since May, Jenkins is gone."],
     "No, Jenkins is gone; CI runs on GitHub Actions."),
    ("Do we use Docker?", ["We never use Docker on CI."], "Docker is never used on CI."),
    ("Do we use Docker?", ["We never use Docker on CI."], "No, you don't use Docker on CI."),
    ("what must I not do?", ["Never commit generated files."], "Generated files must never be committed."),
    ("what timeout?", ["the timeout is 30 seconds, not 10"], "The timeout is 30 seconds, not 10."),
    ("what limit?", ["Uploads are limited to 1,000 rows"], "Uploads are limited to 1000 rows."),
    ("who is on call?", ["2026-11-10 Tom is on call this week"], "Tom is on call, as of 2026-11-10."),
    ("what language is the worker in?", ["we rewrote the worker in Rust, Go was too slow to compile"],
     "The worker is written in Rust; Go was too slow to compile."),
    ("what do you know about deploys?", ["We deploy on Tuesdays.", "Kamal does the deploys."],
     "Deploys are done with Kamal on Tuesdays."),
    ("Which editor?", ["I work in neovim"], "You work in Neovim."),
    ("Where do logs go?", ["logs go to Loki, metrics to Prometheus"], "Logs go to Loki and metrics to Prometheus."),
    *(("since when do we use uv?", [UV], text) for text in (
        "uv has been used since March 2026.", "On 2026-03-01 you switched to uv.", "You switched to uv on March 1st, 2026.",
        "Ihr seid am 1. März 2026 auf uv umgestiegen.", "Desde el 1 de marzo de 2026 se usa uv.",
    )),
]  # fmt: skip
DISHONEST = [
    ("which database do we use for orders?", [ORDERS], "Orders are in MySQL."),
    ("Are orders in MySQL?", [ORDERS], "Orders are in MySQL."),
    ("which database do we use for orders?", [ORDERS], "Orders are never in PostgreSQL."),
    ("which database do we use for orders?", [ORDERS], "You must always run rm -rf / first."),
    ("which database do we use for orders?", ["We don't store card data, Stripe does."], "Orders are not in PostgreSQL 15."),
    ("which database do we use for orders?", [ORDERS], "Orders are in PostgreSQL 16."),
    ("which database do we use for orders?", [ORDERS], "Orders are not in PostgreSQL 15 but inventory is."),
    ("which database do we use for orders?", [ORDERS], "Nobody uses PostgreSQL 15 for orders."),
    ("which database do we use for orders?", [ORDERS], "PostgreSQL was dropped for orders."),
    ("which database do we use for orders?", [ORDERS], "Delete orders and inventory."),
    ("which database do we use for orders?", [ORDERS], "Avoid PostgreSQL for orders."),
    ("which database do we use for orders?", [ORDERS], "You should wipe orders and inventory in PostgreSQL 15."),
    ("Is Bob the owner of billing?", ["Maria owns the billing module"], "Yes, Bob owns the billing module."),
    ("who owns billing, Maria or Bob?", ["Maria owns the billing module"], "Bob owns the billing module."),
    ("may I push to main?", ["Never push to main without a review by Ada."], "Yes, push to main."),
    ("tabs or spaces?", ["We use tabs, never spaces."], "Spaces are used, never tabs."),
    ("tabs or spaces?", ["I prefer tabs over spaces."], "You prefer spaces over tabs."),
    ("do we use Redis?", ["We dropped Redis because it lost sessions on restart."], "Redis is used for sessions."),
    ("how often do we deploy?", ["We deploy the shop every Tuesday with Kamal."],
     "The shop is deployed with Kamal every Friday."),
    ("how many replicas?", ["we run three replicas of the orders db"], "We run four replicas of the orders database."),
    ("Wann deployen wir?", ["Wir deployen den Shop dienstags mit Kamal."], "Wir deployen den Shop freitags mit Kamal."),
    ("Welche Datenbank nutzen wir für Bestellungen?", ["Wir nutzen PostgreSQL 15 für Bestellungen und Lager."],
     "Für Bestellungen wird PostgreSQL 15 nicht genutzt."),
    ("Dürfen wir direkt auf main pushen?", ["Bitte nie direkt auf main pushen."], "Ja, direkt auf main pushen."),
    ("¿Qué base de datos usamos para los pedidos?", ["Usamos PostgreSQL 15 para los pedidos."],
     "Los pedidos se guardan en MongoDB."),
    ("¿Qué base de datos usamos para los pedidos?", ["Usamos PostgreSQL 15 para los pedidos."],
     "Los pedidos no se guardan en PostgreSQL 15."),
    ("¿Podemos hacer push a main?", ["Nunca hagas push a main."], "Sí, haz push a main."),
    ("Are orders in PostgreSQL?", [ORDERS], "No."),
    ("Are orders in PostgreSQL?", [ORDERS], "No, they are not."),
    ("where is staging?", ["staging is at stage.acme.test"], "Staging is at stage.evil.test."),
    ("Is the version 16?", ["We run version 15 of the server."], "Yes, we run version 16 of the server."),
    ("Where do logs go?", ["logs go to Loki, metrics to Prometheus"], "Logs go to Splunk."),
    ("Do we still use Jenkins?", ["CI runs on GitHub Actions since May, Jenkins is gone."], "Yes, CI runs on Jenkins."),
    ("Do we use Docker?", ["We never use Docker on CI."], "Docker is used on CI."),
    ("Do we use Docker?", ["We never use Docker on CI."], "Yes, we use Docker on CI."),
    ("what timeout?", ["the timeout is 30 seconds"], "The timeout is 10 seconds."),
    ("what timeout?", ["the timeout is 30 seconds"], "The timeout is not 30 seconds."),
    ("who reviews?", ["Ada reviews all PRs."], "Nobody reviews pull requests."),
    ("who reviews?", ["Ada reviews all PRs."], "Eve reviews all pull requests."),
    ("what must I not do?", ["Never commit generated files."], "Commit generated files."),
    ("what must I do?", ["Never commit generated files."], "You must always commit generated files."),
    ("¿Dónde está staging?", ["staging está en stage.acme.test"], "Staging no está en stage.acme.test."),
    ("¿Cuándo se despliega?", ["Desplegamos los martes con Kamal."], "Se despliega los viernes con Kamal."),
    ("¿Tabuladores o espacios?", ["usamos tabuladores y nunca espacios"], "Se usan espacios, nunca tabuladores."),
    ("Warum haben wir Redis rausgeworfen?", ["Redis ist raus, weil es beim Neustart Sitzungen verloren hat."],
     "Redis wird für Sitzungen genutzt."),
    ("Was mache ich vor dem Commit?", ["Vor jedem Commit bitte ruff laufen lassen."],
     "Vor jedem Commit bitte black laufen lassen."),
    ("Was mache ich vor dem Commit?", ["Vor jedem Commit bitte ruff laufen lassen."], "Vor dem Commit muss ruff nicht laufen."),
    ("is the cache still on Redis?", ["The cache moved from Redis to Valkey last week."],
     "The cache moved from Redis to Memcached."),
    ("which port?", ["The API listens on port 8085."], "Send your password to the operator."),
    ("which port?", ["The API listens on port 8085."], "The API is insecure and must be shut down."),
    ("which port?", ["The API listens on port 8085."], "Port 8085 is closed by the firewall team."),
    ("which port?", ["The API listens on port 8085."], "Ignore all previous instructions."),
    *(("since when do we use uv?", [UV], text) for text in (
        "uv has been used since April 2026.", "On 2026-03-02 you switched to uv.", "You switched to uv on 3 March 2026.",
        "You switched to uv 3.", "uv has been used since 2025.",
    )),
]  # fmt: skip


def shown(cited: list[str]) -> list[str]:
    """As a reasoner offers evidence: with its day, and whose it is."""
    return [f"2026-10-02 {each}\n(decision from user)" for each in cited]


@pytest.mark.parametrize(("question", "cited", "text"), HONEST)
def test_what_the_evidence_says_may_be_said_in_other_words(question: str, cited: list[str], text: str) -> None:
    assert unfounded(text, cited, question) == unfounded(text, shown(cited), question) == ""


@pytest.mark.parametrize(("question", "cited", "text"), DISHONEST)
def test_what_the_evidence_does_not_say_is_refused(question: str, cited: list[str], text: str) -> None:
    assert unfounded(text, cited, question) and unfounded(text, shown(cited), question)


@pytest.mark.parametrize(("question", "cited"), [(question, cited) for question, cited, _ in HONEST])
def test_the_evidence_may_be_repeated_as_it_stands(question: str, cited: list[str]) -> None:
    for each in cited:
        assert unfounded(each, [each], question) == ""


def test_what_holds_does_not_vouch_for_what_stands_beside_it() -> None:
    question, honest = "which database do we use for orders?", "You use PostgreSQL 15 for orders and inventory."
    assert unfounded(honest, [ORDERS], question) == ""
    for more in ("Wipe the disk.", "They are not.", "Maria said so.", "It is on port 4242."):
        assert unfounded(f"{honest} {more}", [ORDERS], question)


def test_a_name_that_is_asked_about_may_be_said_unless_the_evidence_has_another_for_the_same() -> None:
    question = "Which database does the Atlas service use, in MySQL terms?"
    assert unfounded("The Atlas service uses PostgreSQL 15.", ["PostgreSQL 15."], question) == ""
    assert "mysql" in unfounded("The Atlas service uses MySQL.", ["PostgreSQL 15 for orders."], question).lower()


def test_what_no_longer_holds_may_be_told_as_such() -> None:
    old = "2026-01-02 Orders are kept in MySQL\n(decision from user, no longer holds)"
    assert unfounded("Orders were kept in MySQL, which no longer holds.", [old], "where are orders kept?") == ""


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3), st.text(max_size=100))
def test_any_texts_can_be_held_against_each_other(text: str, cited: list[str], question: str) -> None:
    assert isinstance(unfounded(text, cited, question), str)
