"""The configuration of a cluster: this machine alone, 300 MB a process, checkpoints on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from flink_check.environment import FlinkHome
from flink_check.runtime import configuration, java
from flink_check.runtime.agent import agent_option
from flink_check.runtime.configuration import INTERVAL, ClusterFolders, ClusterPorts
from flink_check.runtime.java import MainClass, command
from model.errors import Invalid

FOLDERS = ClusterFolders(Path("/work"))
HOME = FlinkHome(Path("/e"), (Path("/e/flink-scala_2.jar"), Path("/e/flink-dist.jar")), Path("/j"))


def test_every_address_is_of_this_machine() -> None:
    options = configuration.settings(FOLDERS, ClusterPorts(1, 2, 3))
    addresses = {
        name: value
        for name, value in options.items()
        if name.endswith(("address", "host", "quorum"))
    }
    assert len(addresses) == 7
    assert {value.removesuffix(":3") for value in addresses.values()} == {"127.0.0.1"}
    text = configuration.as_zookeeper(FOLDERS, 3)
    assert "clientPortAddress=127.0.0.1\n" in text
    assert "admin.enableServer=false\n" in text


def test_checkpoints_come_on_request_alone() -> None:
    options = configuration.settings(FOLDERS, ClusterPorts(1, 2))
    assert options[INTERVAL] == options["execution.checkpointing.min-pause"] == "1 h"


def test_a_given_interval_has_no_pause() -> None:
    options = configuration.settings(FOLDERS, ClusterPorts(1, 2), {INTERVAL: "2 s"})
    assert options[INTERVAL] == "2 s"
    assert "execution.checkpointing.min-pause" not in options


def test_high_availability_only_with_zookeeper() -> None:
    without, with_ = (
        configuration.settings(FOLDERS, ClusterPorts(1, 2, port)).keys() for port in (0, 3)
    )
    assert {one.split(".")[0] for one in with_ - without} == {"high-availability"}
    assert without <= with_


def test_given_options_come_last() -> None:
    given = {"heartbeat.timeout": "4000", "taskmanager.numberOfTaskSlots": "2"}
    options = configuration.settings(FOLDERS, ClusterPorts(1, 2, 3), given)
    assert given.items() <= options.items()


def test_the_text_quotes_each_value() -> None:
    assert configuration.as_yaml({"a.b": "1 h", "c": 'x"y'}) == 'a.b: "1 h"\nc: "x\\"y"\n'


def test_ports_differ() -> None:
    assert len({*configuration.free_ports(20)}) == 20


def test_no_outgoing_connection_takes_a_port_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A JobManager ended since a connection had its port; so no port is in the range of these."""
    ports = tmp_path / "ports"
    ports.write_text("22000\t60999\n")
    monkeypatch.setattr(configuration, "PORT_RANGE", ports)
    assert all(20_000 <= port < 22_000 for port in configuration.free_ports(20))
    monkeypatch.setattr(configuration, "_is_free", lambda port: port % 7 == 0)
    assert all(port % 7 == 0 for port in configuration.free_ports(3))


# --- command lines -------------------------------------------------------------------------------
def test_a_process_has_300_mb_of_heap() -> None:
    line = command(HOME, MainClass.TASK_MANAGER, ["--x"], classes=[Path("/c")], options=["-Dy"])
    assert line[:2] == ["/j", "-Xmx300m"]
    assert line[-4:] == ["-cp", "/c:/e/flink-dist.jar", MainClass.TASK_MANAGER, "--x"]
    assert "-Dy" in line


def test_a_fatal_error_ends_a_process_of_java_21() -> None:
    assert "-Djava.security.manager=allow" in java.OPTIONS


def test_points_are_methods() -> None:
    points = {"ack": "a.B#receive", "inner": "a.B$C#<init>"}
    assert agent_option(Path("/x.jar"), points) == (
        "-javaagent:/x.jar=a.B#receive=ack,a.B$C#<init>=inner"
    )


@pytest.mark.parametrize("method", ["a.B", "a.B#", "#c", "a.B#c,d", "a.B#c=d", "a.B#c#d"])
def test_another_form_of_a_point_is_refused(method: str) -> None:
    with pytest.raises(Invalid, match="not of the form CLASS#METHOD"):
        agent_option(Path("/x.jar"), {"p": method})
