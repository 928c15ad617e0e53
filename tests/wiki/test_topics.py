"""What becomes a page, under which title, and that a plan depends on nothing but what is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.wiki.neighbours import NONE
from hindbrain.wiki.page import Fact, Material, Page
from hindbrain.wiki.topics import EVERYWHERE, Plan, planned
from tests.wiki.made import fact, material, said

CORPUS = Path(__file__).resolve().parent.parent / "reason" / "corpus"


def concepts(plan: Plan) -> dict[str, Page]:
    return {page.title: page for page in plan.pages.values() if page.type == "concept"}


def texts(page: Page, held: Material) -> list[str]:
    return [held.facts[each].text for section in page.sections for each in section.facts]


def story(name: str) -> Material:
    """The statements of a corpus story, as they are labelled."""
    told = json.loads(next(CORPUS.glob(f"tune_*/{name}.json")).read_text("utf-8"))
    found: dict[str, Fact] = {}
    for session, each in enumerate(told["sessions"], 1):
        for item in each["items"]:
            of = len(found) + 1
            found[f"{each['session']}/{item['id']}"] = fact(of, item["quote"], item["kind"], session=session)
    for tie in told["relations"]:
        old, new = found.get(tie["old"]), found.get(tie["new"])
        if old and new and tie["type"] == "supersedes":
            found[tie["old"]] = replace(old, successor=new.id, valid_to=new.valid_from)
        elif old and new and tie["type"] == "contradicts":
            found[tie["old"]], found[tie["new"]] = replace(old, disputes=(new.id,)), replace(new, disputes=(old.id,))
    return material(found.values(), p_1=told["project"])


# As a reader would call them; not all, but none of the others.
STORIES = {
    "berth-booking-api": ({"Procrastinate", "uv", "SQS", "Migrations", "Compose file", "Oke"},
                          {"Client", "Mails", "Tomasz", "Go"}),
    "depotdesk-admin": ({"Handhelds", "Fastify", "Keycloak", "Barrel files", "Token", "pnpm"},
                        {"Ravi", "German", "Rows", "Then"}),
    "isotherm-fit": ({"NumPy", "Parquet", "HDF5", "Ingrid", "Docstrings", "Spring school", "meson-python"},
                     {"Spring", "Rewritten", "Baptiste"}),
    "tienda-php": ({"Redsys", "PHP", "Devoluciones", "Céntimos", "SIS0042"}, {"Iker", "Siempre", "Stripe"}),
    "nebelhafen-unity": ({"Unity", "JSON", "Jette", "Shader", "Slots", "FixedUpdate"}, {"Bilal", "Deck", "Erzeugt"}),
    "atlas-k8s-platform": ({"Cilium", "Flux", "CRD", "Gateway API", "nginx", "Production"}, {"Sanne", "Thursday"}),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_real_statements_make_the_pages_a_reader_would_choose(name: str) -> None:
    wanted, others = STORIES[name]
    found = set(concepts(planned(story(name))))
    assert wanted <= found
    assert not others & found


@pytest.mark.parametrize("name", [path.stem for path in sorted(CORPUS.glob("tune_*/*.json"))])
def test_every_statement_is_on_its_projects_page_and_no_page_has_one_alone(name: str) -> None:
    held = story(name)
    pages = planned(held).pages.values()
    [project] = [page for page in pages if page.type == "project"]
    assert sorted(each for section in project.sections for each in section.facts) == sorted(held.facts)
    assert [page.title for page in pages if sum(len(section.facts) for section in page.sections) < 2] == []
    assert len({page.path.lower() for page in pages}) == len({page.title for page in pages}) == len(pages)


def test_one_technology_is_one_page_however_it_is_written() -> None:
    held = said("Postgres is on 16 now.", "we back up postgresql nightly", "run `psql` with -X")
    page = concepts(planned(held))["PostgreSQL"]
    assert len(texts(page, held)) == 3
    assert (page.path, page.tags) == ("concepts/postgresql.md", ("database",))


def test_a_word_that_is_also_a_name_counts_only_where_it_is_written_as_one() -> None:
    assert "Go" not in concepts(planned(said("go for it then", "we go live on friday", "let it go")))
    assert "Go" in concepts(planned(said("the service is in Go", "we write Go with tabs")))
    assert len(texts(concepts(planned(said("ship it through Flux", "flux settles in between", "all else is flux")))["Flux"],
                     said("ship it through Flux", "flux settles in between", "all else is flux"))) == 3  # fmt: skip


def test_verbs_small_words_and_single_mentions_make_no_page() -> None:
    held = said(
        "please always check it", "never check this again", "we should use it", "use that one", "Kafka is out", "it is what it is"
    )
    assert concepts(planned(held)) == {}


def test_a_person_has_a_page_when_several_statements_name_them() -> None:
    two = ("ask Ingrid before you publish", "the kernels were ported by Ingrid")
    assert "Ingrid" not in concepts(planned(said(*two)))
    assert "Ingrid" in concepts(planned(said(*two, "only Ingrid has upload rights")))


def test_the_word_of_one_project_is_not_that_of_another() -> None:
    first = [fact(1, "orders are immutable"), fact(2, "the orders live in a queue"), fact(3, "never delete the orders")]
    other = [replace(each, id=f"m_{of}", project="p_2") for of, each in enumerate(first, 7)]
    pages = [page for page in planned(material([*first, *other], p_2="shop")).pages.values() if page.title == "Orders"]
    assert sorted(page.path for page in pages) == ["concepts/orders-shop.md", "concepts/orders.md"]
    assert {page.projects for page in pages} == {("p_1",), ("p_2",)}


def test_what_was_replaced_comes_along_with_what_took_its_place() -> None:
    old = fact(1, "mails go out inline", "decision", successor=f"m_{2:024x}", valid_to=1)
    held = material([old, fact(2, "mails go through Redis", "decision"), fact(3, "Redis is in eu-west-1")])
    page = concepts(planned(held))["Redis"]
    decisions = next(section for section in page.sections if section.name == "Decisions")
    assert [held.facts[each].text for each in decisions.facts] == ["mails go through Redis", "mails go out inline"]


def test_both_sides_of_a_contradiction_stand_together() -> None:
    held = material([
        fact(1, "Redis keeps jobs", disputes=(f"m_{3:024x}",)), fact(2, "Redis runs on port 7000"),
        fact(3, "jobs are in a table", disputes=(f"m_{1:024x}",)),
    ])  # fmt: skip
    page = concepts(planned(held))["Redis"]
    assert {section.name: len(section.facts) for section in page.sections} == {"Key points": 1, "Disputed": 2}


def test_two_topics_that_are_spoken_of_together_are_connected() -> None:
    both = [f"Redis and Kafka {words}" for words in ("share a host", "are both in eu-west-1", "get patched on mondays")]
    held = said(*both, "Redis holds sessions", "Redis has a password", "Kafka has three brokers", "Kafka keeps a week")
    plan = planned(held)
    [tie] = [page for page in plan.pages.values() if page.type == "connection"]
    assert (tie.title, tie.path, texts(tie, held)) == ("Kafka and Redis", "connections/kafka-and-redis.md", both)
    assert tie.id in concepts(plan)["Redis"].related and tie.id in concepts(plan)["Kafka"].related


def test_links_go_both_ways() -> None:
    pages = planned(story("settlement-ledger")).pages
    assert [
        (page.title, pages[other].title)
        for page in pages.values()
        for other in page.related
        if page.id not in pages[other].related
    ] == []


def test_what_holds_everywhere_has_a_page_of_its_own() -> None:
    [page] = planned(said("answer in english", project=None)).pages.values()
    assert (page.title, page.type, page.projects) == (EVERYWHERE, "project", ())


def test_meaning_brings_a_statement_without_a_topic_to_its_like() -> None:
    held = said("Redis feeds a gizmo", "Redis has a password", "the gizmo is slow")
    assert len(texts(concepts(planned(held))["Redis"], held)) == 2
    assert len(texts(concepts(planned(held, lambda one, other: 1.0))["Redis"], held)) == 3
    assert planned(held, lambda one, other: 0.0) == planned(held)


def test_what_is_added_later_renames_nothing() -> None:
    held = said("orders are immutable", "the orders live in a queue", "never delete the orders")
    more = material(
        [*held.facts.values(), *(fact(of, "an ORDER is a row, each Order has lines", session=of) for of in range(10, 20))]
    )
    before, after = planned(held).pages, planned(more).pages
    assert {page.id: (page.path, page.title) for page in before.values()}.items() <= {
        page.id: (page.path, page.title) for page in after.values()
    }.items()


SENTENCES = [
    "Redis holds sessions", "redis and Kafka share a host", "Kafka has three brokers", "migrations are append-only",
    "never edit the migrations",
    "Ingrid owns the migrations", "ask Ingrid about Redis", "by Ingrid", "the compose file has a worker",
    "compose file needs Redis", "go on",
    "the Flux docs", "flux is slow", "`outbox` rows go to Kafka", "the `outbox` table", "orders",
    "the orders are rows of Kafka", "prod is in Kafka", "",
]  # fmt: skip
STEPS = st.lists(
    st.tuples(
        st.integers(1, 9), st.one_of(st.none(), st.sampled_from(SENTENCES)), st.sampled_from(["p_1", "p_2", None]),
        st.integers(0, 9), st.integers(0, 9), st.integers(1, 40),
    ), min_size=1, max_size=25,
)  # fmt: skip


def by_words(one: str, other: str) -> float:
    return 2 * len(set(one.split()) & set(other.split())) / (len(one.split()) + len(other.split()))


def _stepped(facts: dict[str, Fact], step: tuple[int, str | None, str | None, int, int, int]) -> dict[str, Fact]:
    of, text, project, successor, dispute, at = step
    made = fact(of, text or "", project=project, valid_from=at, successor=f"m_{successor:024x}" if successor else None,
                disputes=(f"m_{dispute:024x}",) if dispute else ())  # fmt: skip
    left = {key: each for key, each in facts.items() if key != made.id}
    return left if text is None else left | {made.id: made}


@given(STEPS)
@settings(max_examples=100, deadline=None)
def test_planning_step_by_step_ends_where_planning_at_once_does(
    steps: list[tuple[int, str | None, str | None, int, int, int]],
) -> None:
    facts: dict[str, Fact] = {}
    plan: Plan | None = None
    for step in steps:
        facts = _stepped(facts, step)
        held = material(facts.values(), p_2="shop")
        was = dict(plan.pages) if plan else {}
        before, plan = plan, planned(held, by_words, plan)
        assert plan == planned(held, by_words)
        assert before is None or dict(before.pages) == was


KEYS = [f"p|k{of:02}" for of in range(18)]
IDS = st.sets(st.sampled_from("abcdefgh"), min_size=1).map(lambda ids: tuple(sorted(ids)))
HELD = st.dictionaries(st.sampled_from(KEYS), IDS)


@given(st.lists(HELD, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_neighbours_step_by_step_are_those_at_once(steps: list[dict[str, tuple[str, ...]]]) -> None:
    kept = NONE
    was: Mapping[str, object] = {}
    for own in steps:
        sizes = {key: len(ids) for key, ids in own.items()}
        (kept, moved), (fresh, _) = kept.updated(own, sizes), NONE.updated(own, sizes)
        assert (kept.spots, kept.near, kept.ties, kept.tied) == (fresh.spots, fresh.near, fresh.ties, fresh.tied)
        now = {key: (own[key], fresh.near.get(key), fresh.tied.get(key)) for key in own}
        assert {key for key in now if now[key] != was.get(key)} <= moved
        assert all(key in fresh.near[other] for key, near in fresh.near.items() for other in near)
        was = now


def test_who_is_crowded_out_of_a_neighbourhood_loses_its_neighbour() -> None:
    own = {"p|hub": tuple(f"f{of:02}" for of in range(1, 13)), **{f"p|k{of:02}": (f"f{of:02}",) for of in range(1, 13)}}
    more = {**own, "p|hub": ("f00", *own["p|hub"]), "p|k00": ("f00",)}
    full, _ = NONE.updated(own, dict.fromkeys(own, 1))
    crowded, moved = full.updated(more, dict.fromkeys(more, 1))
    assert full.near["p|k12"] == ["p|hub"] and "p|k12" not in crowded.near
    assert {"p|k12", "p|k00", "p|hub"} <= moved


def test_a_change_to_what_was_replaced_reaches_the_page_of_what_took_its_place() -> None:
    old = fact(1, "mails go out inline", successor=f"m_{2:024x}", valid_to=1)
    facts = [old, fact(2, "mails go through Redis"), fact(3, "Redis is in eu-west-1")]
    later = [replace(old, valid_to=10**15), *facts[1:]]
    assert planned(material(later), None, planned(material(facts))) == planned(material(later))


def test_what_did_not_change_is_taken_over() -> None:
    held = story("settlement-ledger")
    plan = planned(held)
    same = Material({key: replace(each) for key, each in held.facts.items()}, {}, dict(held.projects), "")
    again = planned(same, None, plan)
    assert all(again.pages[key] is page for key, page in plan.pages.items())
    key = next(key for key, each in held.facts.items() if "Redis" in each.text)
    changed = planned(Material({**held.facts, key: replace(held.facts[key], confidence=0.1)}, {}, held.projects, ""), None, plan)
    others = [page.title for key, page in plan.pages.items() if changed.pages[key] is not page]
    assert "Redis" in others and len(others) < len(plan.pages) / 2


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "`" * 5_000,
        "a_" * 50_000,
        "A." * 9_999,
        "\x00\ud800",
        "数据库迁移" * 999,
        "((((" * 999,
        "-" * 9_999,
        "a/b." * 999,
    ],
)
def test_no_text_stops_the_planner(text: str) -> None:
    assert len(planned(said(text, text, text + " Redis", "Redis " + text)).pages) >= 1
