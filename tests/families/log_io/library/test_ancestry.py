"""The lineage of an event as numbers is that of lineage.graph, and a picture of a large one counts
what it leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs.examples.log_io import pipeline
from reports.diagrams.lineage import picture
from reports.diagrams.lineage_sketch import sketch
from spark_check.log_io.library import Log, LogError
from spark_check.log_io.library.ancestry import ancestry, bodies
from spark_check.log_io.library.lineage import body_of, graph
from tests.families.log_io.library.children import do_nothing
from tests.families.log_io.library.tables import snapshot


def test_numbers_say_what_the_graph_says(place: str, tmp_path: Path) -> None:
    with Log(place, pipeline.captured(), synchronous="OFF") as log:
        pipeline.run(log, tmp_path, do_nothing, times=4)
        keys = log.database.execute(
            "SELECT send_op, send_port, rec_port, event_id FROM event_data"
            " WHERE send_port <> '' OR rec_port <> ''"
        )
        assert len(keys) > 20
        assert snapshot(log)
        for key in map(tuple, keys):
            for ahead in (False, True):
                whole, found = graph(log, key, ahead=ahead), ancestry(log, key, ahead=ahead)
                events = {found.key(at): at for at in range(len(found))}
                assert events.keys() == {*whole}
                assert events[key] == 0
                pairs = [(found.key(one), found.key(other)) for one, other in found.uses()]
                assert pairs == sorted(whole.edges)
                for node, at in events.items():
                    assert whole.nodes[node]["is_source"] == bool(found.sources[at])
                order = [found.key(at) for step in found.steps for at in step]
                assert all(order.index(one) < order.index(other) for one, other in pairs)
                for at, body in bodies(log, found.found(), found.key):
                    assert body == body_of(log, found.key(at))


def test_rows_that_say_that_an_event_is_made_of_itself_are_one_line(tmp_path: Path) -> None:
    with Log(str(tmp_path / "log.db"), pipeline.captured(), synchronous="OFF") as log:
        pipeline.run(log, tmp_path, do_nothing)
        log.database.execute(
            "UPDATE event_log SET rec_op = 'sums', inset_id = (SELECT inset_id FROM event_lineage"
            " WHERE send_op = 'sums' AND send_port = 'totals' AND event_id = 1)"
            " WHERE send_op = 'sums' AND send_port = 'totals' AND event_id = 1"
        )
        with pytest.raises(LogError, match=r"sums.totals#1 is among the events that it was made"):
            ancestry(log, ("sums", "totals", "totals", 1))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_a_sketch_counts_each_event_once(data: st.DataObject) -> None:
    """Boxes and the numbers of the others are all events, for any graph without circles."""
    size = data.draw(st.integers(2, 120))
    uses = {at: data.draw(st.integers(0, at - 1)) for at in range(1, size)}  # the one it went into
    more = data.draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))))
    inputs: dict[int, set[int]] = {at: set() for at in range(size)}
    for one, other in [*uses.items(), *((max(pair), min(pair)) for pair in more)]:
        if one != other:
            inputs[other].add(one)

    def key(at: int) -> tuple[str, str, str, int]:
        return "op", "out", "in", at

    found, shown = sketch([0], inputs.__getitem__, key, ahead=False, events=size)
    for at, node in shown.items():
        found.add_node(node, name=f"op.out#{at}", body=b"", is_source=not inputs[at])
    rest = [found.nodes[node]["name"] for node in found if node not in shown.values()]
    assert len(shown) + sum(int(name.split()[1].replace(",", "")) for name in rest) == size
    drawn = picture(found, key(0), events=size, uses=7).svg
    assert f"{size} events, 7 uses" in drawn
    assert all(re.escape(name) in re.escape(drawn) for name in rest)
