"""What a newer statement does to an older one: values and negation before likeness, in three languages."""

from __future__ import annotations

import itertools
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hindbrain.ledger.known import Known
from hindbrain.reason.relation import relation
from hindbrain.reason.values import read
from hindbrain.recall.static import Static
from tests.reason.knowing import know

CORPUS = Path(__file__).with_name("corpus")


@cache
def likeness(one: str, other: str) -> float:
    first, second = Static.load().documents([one, other])
    return float(first @ second)


def told(older: str, newer: str, kinds: str = "decision decision", **of_newer: Any) -> str:
    """What the newer does to the older."""
    older_kind, newer_kind = kinds.split()
    return relation(know("new", newer, newer_kind, 2, **of_newer), know("old", older, older_kind, 1), likeness)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use Postgres for the orders.", "We moved to MySQL for the orders."),
        ("yarn berry for the monorepo", "yarn is out, pnpm workspaces from today"),
        ("we run postgres 14", "postgres is at 16 since the maintenance window"),
        ("The cache TTL for user profiles is 10 minutes.", "Profile cache entries should live one hour."),
        ("line length 88", "make it 100 columns, 88 is silly on these screens"),
        ("five attempts, then the job is parked", "bump the retries, five isn't enough, make it eight"),
        ("Gradle nehmen wir für den Build", "Gradle fliegt raus, wir bauen wieder mit Maven"),
        ("Timeout 30 Sekunden reicht", "setz den Timeout auf 60 Sekunden hoch, 30 war zu knapp"),
        ("usamos Bootstrap para el panel", "fuera Bootstrap, el panel pasa a Tailwind"),
        ("el ORM será Sequelize", "cambiamos Sequelize por Prisma"),
    ],
)
def test_another_value_in_the_same_place_supersedes(older: str, newer: str) -> None:
    assert told(older, newer) == "supersedes"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("please never push to main yourself", "you can push to main now as long as ci is green"),
        ("always squash-merge contributor PRs", "Forget the squash rule, merge commits are fine from now on"),
        ("keine neuen Endpunkte in v1", "neue Endpunkte in v1 sind ab sofort wieder erlaubt"),
        ("no toques el módulo de facturas", "ya puedes tocar el módulo de facturas, se acabó la auditoría"),
    ],
)
def test_a_rule_that_is_taken_back_is_superseded(older: str, newer: str) -> None:
    assert told(older, newer, "instruction instruction") == "supersedes"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("use Redis for the sessions", "never use Redis for the sessions"),
        ("never use Redis for the sessions", "use Redis for the sessions"),
        ("always rebase before merging", "we merge, never rebase, keeps the history honest"),
        ("Tests immer mit Mocks", "Tests nie mit Mocks"),
        ("siempre en inglés los commits", "nunca en inglés los commits"),
    ],
)
def test_a_no_for_a_yes_is_never_agreement_however_alike_they_sound(older: str, newer: str) -> None:
    assert told(older, newer, "instruction instruction") == "contradicts"
    alike = relation(know("n", newer, "instruction", 2), know("o", older, "instruction", 1), lambda one, other: 1.0)
    assert alike == "contradicts"


@pytest.mark.parametrize(
    ("kinds", "older", "newer"),
    [
        ("fact fact", "dev is k3s on the rack in the office", "dev is a kubeadm cluster afaik"),
        ("fact fact", "the nightly job takes about 20 minutes", "nightly takes two hours I think"),
        ("fact fact", "los backups se guardan en S3", "según Marta los backups están en el NAS"),
        ("preference preference", "dark mode screenshots in the docs please", "I prefer light screenshots in the docs"),
        ("instruction preference", "docstrings on every public function", "I'd leave docstrings out, the types say enough"),
        ("fact fact", "the rate limit is 100 requests per minute", "the rate limit is 60 per minute according to the readme"),
    ],
)
def test_a_view_or_hearsay_contradicts_and_takes_nobodys_place(kinds: str, older: str, newer: str) -> None:
    assert told(older, newer, kinds) == "contradicts"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the api uses Postgres", "the analytics job uses MySQL"),
        ("use black for formatting", "also use ruff for linting"),
        ("Access tokens are valid for 15 minutes.", "Refresh tokens are valid for 30 days."),
        ("The production timeout is 30 seconds.", "For staging the timeout is 60 seconds."),
        ("The rate limit for anonymous clients is 20 per minute.", "The rate limit for partners is 1000 per minute."),
        ("The invoice template is in templates/invoice.html.", "The receipt template is in templates/receipt.html."),
        ("retry webhooks 5 times", "retry emails 3 times"),
        ("never edit files under vendor/", "never edit files under generated/"),
        ("squash feature branches", "do not squash release branches"),
        ("Variablen auf Englisch", "Commits auf Deutsch"),
        ("los logs van a Loki", "las métricas van a Prometheus"),
        ("mobile app in Flutter", "admin panel in Svelte"),
        ("Dana owns billing", "Dana is on vacation until the 12th"),
    ],
)
def test_what_looks_alike_and_is_about_something_else_is_left_alone(older: str, newer: str) -> None:
    assert told(older, newer) == ""


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("never commit .env files", "and as always, no .env in git"),
        ("run make lint before every commit", "lint has to pass before you commit, same as ever"),
        ("Antworten bitte auf Deutsch", "weiterhin bitte auf Deutsch antworten"),
        ("nada de console.log en producción", "como siempre, sin console.log en producción"),
        ("I prefer composition over inheritance", "composition rather than inheritance, you know me"),
    ],
)
def test_the_same_said_again_in_other_words_reinforces(older: str, newer: str) -> None:
    assert told(older, newer, "instruction instruction") == "reinforces"


def test_the_same_words_are_the_same_whatever_their_case_and_space() -> None:
    assert told("Always run the linter.", "always  run the LINTER.", "instruction instruction") == "same"


@pytest.mark.parametrize(
    ("older", "newer", "found"),
    [
        ("remind me to renew the wildcard cert before June", "cert is renewed, you can tick that off", "supersedes"),
        ("Wir müssen noch die Übersetzungen nachziehen", "Übersetzungen sind seit gestern drin", "supersedes"),
        ("falta documentar el webhook de pagos", "el webhook de pagos ya quedó documentado", "supersedes"),
        ("add rate limiting to login", "login page got a new logo", ""),
        ("write the migration guide", "the linter is done", ""),
    ],
)
def test_a_task_is_closed_by_what_says_that_it_is_done(older: str, newer: str, found: str) -> None:
    assert told(older, newer, "task fact") == found


@pytest.mark.parametrize("trust", ["assistant", "tool"])
def test_what_a_person_said_is_never_superseded_by_an_agent_or_a_tool(trust: str) -> None:
    pair = "we run postgres 14", "postgres is at 16 since the maintenance window"
    assert told(*pair, kinds="fact fact", trust=trust) == "contradicts"
    newer, older = know("n", pair[1], "fact", 2, trust=trust), know("o", pair[0], "fact", 1, trust="assistant")
    assert relation(newer, older, likeness) == "supersedes"


def test_of_two_said_at_the_same_moment_none_takes_the_others_place() -> None:
    older, newer = know("o", "Use Postgres for the orders.", at=5), know("n", "We moved to MySQL for the orders.", at=5)
    assert relation(newer, older, likeness) == "contradicts"


def test_what_was_rejected_for_the_new_tells_what_is_over_even_in_other_words() -> None:
    older = "I'd go for Plumbline: the tokens can be used as they are"
    newer = "we're moving to Windrose after all, the designer hands everything over as classes"
    assert told(older, newer) == ""
    assert told(older, newer, detail={"instead_of": "Plumbline"}) == "supersedes"


@pytest.mark.parametrize(
    ("older", "newer", "found"),
    [
        ("css modules it is", "we're moving to Tailwind after all", "supersedes"),
        ("usaremos Redis para la caché de precios", "Memcached para la caché de precios, Redis perdía claves", "supersedes"),
        ("the api is built with FastAPI", "for the admin panel we also use Django", ""),
        ("errors go to Sentry", "we're moving the metrics to Prometheus", ""),
    ],
)
def test_tools_for_one_purpose_stand_for_each_other_even_where_no_word_is_shared(older: str, newer: str, found: str) -> None:
    assert told(older, newer) == found


@pytest.mark.parametrize(
    ("kinds", "older", "newer", "found"),
    [
        ("fact fact", "the export runs at 02:30", "the export now starts at 4am", "supersedes"),
        ("fact fact", "Tuesday is release day", "releases on Thursday now, tuesdays were too busy", "supersedes"),
        ("fact fact", "builds moved to Monday", "the newsletter goes out on Thursday", ""),
        ("fact fact", "the wiki is on host node-01", "Petra says the wiki is on host node-03", "contradicts"),
        ("fact fact", "sample 14 was measured at 77 K", "sample 15 was measured at 90 K", ""),
        ("decision decision", "tokens live 10 minutes", "tokens 30 min, the 10 logged people out", "supersedes"),
        ("decision decision", "bootstrap with 1000 samples", "5000 bootstrap samples, 1000 gave jumpy intervals", "supersedes"),
        ("decision decision", "keep numpy below 2 for this release", "we require numpy 2.1 or later", "supersedes"),
        ("task task", "fix the dead links by end of March", "we have until mid May for the dead links", "supersedes"),
    ],
)
def test_times_days_hosts_and_counts_are_values(kinds: str, older: str, newer: str, found: str) -> None:
    assert told(older, newer, kinds) == found


@pytest.mark.parametrize(
    ("older", "newer", "found"),
    [
        ("Helena owns the search service", "search belongs to Kwame these days", "supersedes"),
        ("Lucía lleva el módulo de pagos", "de pagos se encarga ahora Andrés", "supersedes"),
        ("Omar maintains the billing module", "apparently Sigrid maintains the billing module", "contradicts"),
        ("Nadia reviews the SQL", "Nadia is in the Lisbon office", ""),
        ("Dana owns billing", "Dana also looks after the invoices export", ""),
    ],
)
def test_another_person_in_charge_of_the_same_takes_over(older: str, newer: str, found: str) -> None:
    assert told(older, newer, "fact fact") == found


@pytest.mark.parametrize(
    ("older", "newer", "found"),
    [
        ("stop putting logic into callbacks", "callbacks are ok for counters", ""),
        ("no barrel files, ever", "barrel files. no.", "reinforces"),
        ("we do not add packages without Olu's consent", "you may add packages without asking anybody", "supersedes"),
        ("annotations on public functions are expected", "annotating the public functions is optional", "contradicts"),
    ],
)
def test_what_a_rule_allows_denies_or_leaves_open(older: str, newer: str, found: str) -> None:
    assert told(older, newer, "instruction instruction") == found


def test_hearsay_that_is_only_the_reason_of_a_decision_is_no_hearsay() -> None:
    older, newer = "minSdk 26 übrigens", "minSdk auf 28, die alten Geräte nutzt laut Konsole keiner mehr"
    assert told(older, newer, "fact decision") == "supersedes"


def test_any_two_texts_are_compared_without_an_error_and_with_the_same_result_again() -> None:
    choose = random.Random(7)
    odd = ["", " ", "\x00", "…", "'", "a'b'c", "1" * 4_000, "no " * 900, "v1.2.3.4.5", "%s {} \\1", "ß" * 50,
           "١٢ days", "not", ":8080", "İstanbul 5 İ", "\ud800 lone", "http://[::1]:80/x?y=1#z", "- [ ] todo",
           "`never` **use** _it_", "🙂 10 🙂 days"]  # fmt: skip
    letters = "ab nót 0.1 /:'\"-_\n,;İß²٣"
    odd += ["".join(choose.choice(letters) for _ in range(40)) for _ in range(30)]
    kinds = ("decision", "fact", "task", "lesson", "preference", "instruction", "procedure", "correction", "insight", "")
    for one, other in itertools.product(odd, repeat=2):
        newer, older = know("n", one, choose.choice(kinds), 2), know("o", other, choose.choice(kinds), 1)
        found = relation(newer, older, lambda a, b: 0.5)
        assert found in ("supersedes", "contradicts", "reinforces", "same", "")
        if choose.random() < 0.02:
            read.cache_clear()
            assert relation(newer, older, lambda a, b: 0.5) == found


def labelled(folders: str) -> list[tuple[Known, Known, str | None]]:
    """The pairs of the stories that may be looked at: what was labelled, and None for all others."""
    found: list[tuple[Known, Known, str | None]] = []
    for path in sorted(CORPUS.glob(f"{folders}/*.json")):
        story = json.loads(path.read_text(encoding="utf-8"))
        known: dict[str, Known] = {}
        for day, session in enumerate(story["sessions"]):
            turns = {turn["key"]: (place, turn["role"]) for place, turn in enumerate(session["turns"])}
            for item in session["items"]:
                place, role = turns[item["turn"]]
                name = f"{session['session']}/{item['id']}"
                trust = "user" if role == "user" or item.get("agreed_in") else "assistant"
                known[name] = know(name, item["quote"], item["kind"], day * 100_000 + place, trust=trust)
        labels = {(each["new"], each["old"]): each["type"] for each in story["relations"]}
        for each in story["unrelated"]:
            older, newer = sorted((each["a"], each["b"]), key=lambda name: known[name].valid_from)
            labels[newer, older] = ""
        found += [(known[new], known[old], type_) for (new, old), type_ in labels.items()]
        others = {frozenset(pair) for pair in itertools.combinations(known, 2)} - {frozenset(pair) for pair in labels}
        for pair in sorted(sorted(each) for each in others):
            old, new = sorted((known[name] for name in pair), key=lambda each: (each.valid_from, each.id))
            found.append((new, old, None))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("folders", "supersedes", "contradicts"), [("tune_[a-d]", 0.94, 0.95), ("tune_[e-m]", 0.82, 0.89)],
                         ids=["first", "wide"])  # fmt: skip
def test_on_the_labelled_stories_relations_are_told_rightly_and_few_are_told_where_there_are_none(
    folders: str, supersedes: float, contradicts: float
) -> None:
    said = [(type_, relation(new, old, likeness)) for new, old, type_ in labelled(folders)]
    pairs = [(type_, found) for type_, found in said if type_ is not None]
    accuracy = {name: sum((type_ == name) == (found == name) for type_, found in pairs) / len(pairs)
                for name in ("supersedes", "contradicts")}  # fmt: skip
    others = [found for type_, found in said if type_ is None]
    assert accuracy["supersedes"] >= supersedes
    assert accuracy["contradicts"] >= contradicts
    assert sum(map(bool, others)) / len(others) < 0.01
