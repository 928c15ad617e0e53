"""Which candidates say the same: as comparing every text with every other finds it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.recall.candidates import Candidate
from hindbrain.recall.equals import SAME_CHARS, equals_last

PIECES = ["Yes", "yes", "no", "Σ", "ΑΣ", "İ", ".", "!", "?", " ", "  ", "\n", "\t", "...", "x" * 90, "\u2003", "\x1f"]


def candidate(number: int, text: str, role: str = "user") -> Candidate:
    return Candidate(f"t{number:03}", number + 1, "turn", "s", role, number // 2, len(text), text, asks=False)


def plain(each: Candidate) -> tuple[str, int, str]:
    text = " ".join(each.head[:SAME_CHARS].lower().split()).rstrip(" .!?")
    return each.role, each.chars if each.chars > SAME_CHARS else 0, text


@given(st.lists(st.tuples(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.sampled_from(["user", "assistant"]))))
def test_texts_are_equal_but_for_case_space_and_the_mark_at_the_end(said: list[tuple[str, str]]) -> None:
    found = [candidate(number, text, role) for number, (text, role) in enumerate(said)]
    order = list(range(len(found)))[::-1]
    groups: dict[tuple[str, int, str], list[int]] = {}
    for place in order:
        groups.setdefault(plain(found[place]), []).append(place)
    kept, again, repeated = equals_last(found, order)
    assert kept == [max(places, key=lambda place: (found[place].at, found[place].id)) for places in groups.values()]
    assert again == [place for place in order if place not in kept]
    newest = dict(zip(kept, groups.values(), strict=True))
    assert repeated == {place: [found[each] for each in places] for place, places in newest.items() if len(places) > 1}
