"""What each family took: every measured second is counted once, for its family."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reports.results.families import seconds_by_family

seconds = st.integers(1, 100)
names = st.sampled_from(
    ["upstream-backup", "upstream-backup:pairs", "micro-batch", "micro-batch:x"]
)
families = st.sampled_from(["upstream-backup", "micro-batch", "operator"])
mutants = st.none() | st.lists(st.fixed_dictionaries({"seconds": seconds}), max_size=3)
results = st.fixed_dictionaries(
    {
        "verdicts": st.lists(
            st.fixed_dictionaries({"protocol": names, "seconds": seconds, "mutants": mutants})
        ),
        "proofs": st.lists(st.fixed_dictionaries({"protocol": names, "seconds": seconds})),
        "engine": st.lists(st.fixed_dictionaries({"family": families, "seconds": seconds})),
        "runs": st.lists(st.fixed_dictionaries({"protocol": names, "seconds": seconds})),
    }
)


@given(results)
def test_every_second_counts_once(results: dict[str, Any]) -> None:
    found = seconds_by_family(results)
    entries = [entry for part in results.values() for entry in part]
    hunted = [one for entry in results["verdicts"] for one in entry["mutants"] or ()]
    assert sum(one.total for one in found) == sum(e["seconds"] for e in (*entries, *hunted))
    assert [one.family for one in found] == sorted({one.family for one in found})
    assert all(seconds for one in found for _, seconds in one.parts)


def test_a_variant_counts_for_its_family() -> None:
    of_spark: dict[str, Any] = {"family": "micro-batch", "seconds": 5.0}
    verdict = {"protocol": "micro-batch:eager", "seconds": 2.0, "mutants": [{"seconds": 3.0}]}
    none: dict[str, Any] = {"proofs": [], "runs": []}
    (one,) = seconds_by_family({"verdicts": [verdict], "engine": [of_spark], **none})
    assert one.family == "micro-batch"
    assert one.parts == (("worlds and attack", 2.0), ("mutants", 3.0), ("Spark", 5.0))
