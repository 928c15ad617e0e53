"""One sentence, and another value, owner or liking in it: told as a change or a contradiction; lines of a list are left alone."""

from __future__ import annotations

import pytest

from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import judge
from hindbrain.reason.relation import reverses
from tests.reason.knowing import know

LIKENESS = Likeness()
LIKING = ("I prefer", "Ich bevorzuge", "Prefiero")

ANOTHER = [
    ("The staging host is stage2.acme.test.", "The staging host is stage3.acme.test."),
    ("El puerto de staging es 8080.", "El puerto de staging es 9090."),
    ("Alice owns the billing service.", "Bob owns the billing service."),
    ("I prefer dark mode screenshots in docs.", "I prefer light mode screenshots in docs."),
    ("The staging port is 8080.", "The staging port is 9090."),
    ("Der Staging-Port ist 8080.", "Der Staging-Port ist 9090."),
    ("Alice kümmert sich um die Abrechnung.", "Bob kümmert sich um die Abrechnung."),
    ("Alice lleva la facturación.", "Bob lleva la facturación."),
    ("The default branch is main.", "The default branch is develop."),
    ("Der Staging-Host ist stage2.acme.test.", "Der Staging-Host ist stage3.acme.test."),
    ("El host de staging es stage2.acme.test.", "El host de staging es stage3.acme.test."),
    ("The on-call phone is 555-0100.", "The on-call phone is 555-0199."),
    ("The API base URL is https://api.acme.test/v1.", "The API base URL is https://api.acme.test/v2."),
    ("Docs live in docs/guide.", "Docs live in docs/manual."),
    ("The bucket is called acme-uploads.", "The bucket is called acme-files."),
    ("Releases are on Tuesdays.", "Releases are on Thursdays."),
    ("The release manager is Dana.", "The release manager is Erik."),
    ("Ich bevorzuge helle Screenshots in der Doku.", "Ich bevorzuge dunkle Screenshots in der Doku."),
    ("Prefiero capturas en modo oscuro.", "Prefiero capturas en modo claro."),
    ("The database is called shop_prod.", "The database is called shop_live."),
    ("The support address is help@acme.test.", "The support address is care@acme.test."),
    ("The logo colour is #ff0000.", "The logo colour is #00ff00."),
    ("The feature flag is new_checkout.", "The feature flag is checkout_v2."),
    ("The staging host is stage2.acme.test.", "The staging host is now stage3.acme.test."),
    ("Prefiero nombres largos en las pruebas.", "Prefiero nombres cortos en las pruebas."),
    ("Alice is responsible for the importer.", "Bob is responsible for the importer."),
    ("Alice ist zuständig für den Import.", "Bob ist zuständig für den Import."),
]  # fmt: skip

BESIDE = [
    ("The staging host is stage2.acme.test.", "The production host is prod1.acme.test."),
    ("Alice owns the billing service.", "Bob owns the search service."),
    ("The staging host is stage2.acme.test.", "The staging database is stagedb.acme.test."),
    ("I prefer dark mode in the editor.", "I prefer light mode in screenshots."),
    ("node-01 is in Frankfurt.", "node-02 is in Frankfurt."),
    ("apps/web uses Vite.", "apps/admin uses Vite."),
    ("The API port is 8080.", "The metrics port is 9090."),
    ("The test user is alice@acme.test.", "The test admin is bob@acme.test."),
    ("Alice reviews the migrations.", "Bob writes the migrations."),
    ("El puerto de staging es 8080.", "El puerto de producción es 9090."),
    ("The shop has a German page.", "The shop has an English page."),
    ("Alice works on billing.", "Bob works on billing."),
    ("Alice is in Berlin.", "Bob is in Berlin."),
    ("The Berlin office opens at 9.", "The Paris office opens at 9."),
    ("Error E1001 means a timeout.", "Error E1002 means a timeout."),
    ("Alice likes the new layout.", "Bob likes the new layout."),
    ("We have a Slack channel for billing.", "We have a Slack channel for search."),
    ("Der Staging-Port ist 8080.", "Der Produktions-Port ist 9090."),
    ("Carlos reviews frontend PRs.", "Dana reviews backend PRs."),
    ("main is protected.", "develop is protected."),
    ("Tests for billing are in tests/billing.", "Tests for search are in tests/search."),
    ("src/a.py is generated.", "src/b.py is generated."),
    ("It is 8080.", "It is 9090."),
    ("A test host is stage2.acme.test.", "A test host is stage3.acme.test."),
    ("The API is fast.", "The API is stable."),
    ("The staging host is stage2.acme.test.", "The staging host is not stage3.acme.test."),
    ("The staging host is stage2.acme.test.", "Is the staging host stage3.acme.test?"),
    ("The staging host is stage2.acme.test.", "The staging host is also stage3.acme.test."),
    ("I like short names in tests.", "I like long names in docs."),
    ("We support Python 3.11.", "We support Python 3.12."),
    ("I like coffee.", "I like tea."),
    ("The docs are in docs/guide.", "The docs are in docs/manual."),
    ("Alice writes the changelog.", "Bob writes the changelog."),
    ("Staging listens on port 8080.", "Production listens on port 9090."),
]  # fmt: skip


def told(older: str, newer: str, kinds: str, **of_newer: object) -> str:
    old, new = kinds.split()
    return judge(know("n", newer, new, 2, **of_newer), know("o", older, old, 1), LIKENESS).said


@pytest.mark.parametrize(("older", "newer"), ANOTHER)
def test_another_value_in_the_same_sentence_is_told(older: str, newer: str) -> None:
    liking = older.startswith(LIKING)
    kinds = ("preference preference", "fact fact") if liking else ("fact fact", "decision decision", "fact decision")
    assert {told(older, newer, each) for each in kinds} <= {"supersedes", "contradicts"}


@pytest.mark.parametrize(("older", "newer"), BESIDE)
def test_what_can_be_said_beside_it_is_no_reversal(older: str, newer: str) -> None:
    kind = "preference" if older.startswith("I ") else "fact"
    assert not reverses(know("n", newer, kind, 2), know("o", older, kind, 1))


@pytest.mark.parametrize(
    ("older", "before", "newer"),
    [
        ("We want to use S3 for attachments", "Scratch that,", "attachments go to MinIO on-prem because of GDPR"),
        ("We use MySQL for the orders", "Hm. Forget that.", "the orders go to PostgreSQL"),
        ("Anhänge legen wir in S3 ab", "Vergiss das,", "Anhänge legen wir in MinIO ab"),
        ("Los adjuntos van a S3", "Olvida eso,", "los adjuntos van a MinIO"),
    ],
)
def test_what_is_taken_back_right_before_the_other_name_is_replaced(older: str, before: str, newer: str) -> None:
    assert told(older, newer, "decision fact", detail={"before": before}) == "supersedes"


def test_what_is_taken_back_before_something_else_stays() -> None:
    newer = "the invoices go to MinIO"
    assert told("We want to use S3 for attachments", newer, "decision fact", detail={"before": "Scratch that,"}) != "supersedes"
