"""Workers with another Python: they receive all that they lack, or a line says why they cannot."""

from __future__ import annotations

import os
import pickle
import re
import shlex
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from asif.console import calls_on_spark
from engine_check.breakpoints import POLL_S
from model.errors import Invalid
from model.registry import protocols, subject
from model.results.plain import plain
from proofs.explore.tasks import list_tasks, perform
from proofs.explore.verdict import perform_all
from sim.experiments import published
from spark_check.runtime.cluster import packing, survey, workers
from spark_check.runtime.cluster.failures import explain, lost_task
from spark_check.runtime.cluster.user_files import pack_user_files
from spark_check.runtime.standalone import CONF, Cluster, standalone
from tests.commands.test_cli import asif
from tests.proofs.test_tasks import untimed

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "cluster.md"
RELAY = ROOT / "docs" / "examples" / "relay.py"
SMALL = ["--conf", "spark.executor.memory=512m"]


@pytest.fixture(autouse=True)
def _no_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)


@contextmanager
def bare(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster whose Python has no library, not even Spark's, and does not see ours."""
    home = folder / "bare"
    venv.create(home)
    patch.delenv("PYTHONPATH", raising=False)
    with standalone(folder / "cluster", workers=2) as cluster:
        patch.setenv("PYSPARK_PYTHON", str(home / "bin" / "python"))
        yield cluster


# --- without Spark ---------------------------------------------------------------------------
def test_the_hash_of_the_code_is_that_of_its_copy(tmp_path: Path) -> None:
    packing.pack_ours(tmp_path / "ours.zip")
    assert survey.code_hash(tmp_path / "ours.zip") == survey.code_hash(survey.our_root())


def test_the_copy_has_all_that_the_code_reads(tmp_path: Path) -> None:
    """Files beside the code, too, which lie in a zip file there."""
    packing.pack_ours(tmp_path / "ours.zip")
    code = (
        "import sim; from model.registry import protocols; from sim.experiments import published; "
        "print(sim.__file__, [*protocols()], published.numbers(), sep='\\n')"
    )
    path = {**os.environ, "PYTHONPATH": str(tmp_path / "ours.zip")}
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=path, capture_output=True, text=True
    )
    file, names, numbers = said.stdout.splitlines()
    assert file.startswith(str(tmp_path / "ours.zip"))
    assert names == str([*protocols()])
    assert numbers == str(published.numbers())


def test_a_sent_file_is_performed_where_it_does_not_lie(tmp_path: Path) -> None:
    """Its mutants, too, which are patches of its source."""
    file = tmp_path / "far_relay.py"
    text = f"# -*- coding: latin-1 -*-\n# in a caf\xe9\n{RELAY.read_text()}"
    file.write_bytes(text.encode("latin-1"))
    own = subject(str(file)).protocol
    tasks = [*list_tasks(str(file), own, "quick", walks=None, examples=5, mutants=True)]
    expected = perform_all(perform, tasks)
    assert pack_user_files(tmp_path / "sent.zip")
    (tmp_path / "tasks").write_bytes(pickle.dumps(tasks))
    file.unlink()
    del sys.modules[file.stem]  # its file is gone, and later tests send what is loaded
    code = (
        "import pickle, sys; from proofs.explore.tasks import perform; tasks, done = sys.argv[1:]; "
        "found = [perform(one) for one in pickle.load(open(tasks, 'rb'))]; "
        "pickle.dump(found, open(done, 'wb'))"
    )
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "sent.zip"), str(ROOT)])}
    words = [sys.executable, "-W", "ignore", "-c", code, "tasks", "done"]
    subprocess.run(words, cwd=tmp_path, env=path, check=True)
    found = pickle.loads((tmp_path / "done").read_bytes())
    assert untimed(plain(found)) == untimed(plain(expected))


def test_requirements_are_sent_along() -> None:
    found = packing.with_requirements(["hypothesis", "pandas"])
    assert {"hypothesis", "sortedcontainers", "pandas", "numpy", "python-dateutil"} <= {*found}
    assert packing.with_requirements(["no-such-distribution"]) == ()


def test_a_worker_that_cannot_do_the_job_is_named() -> None:
    names = ("numpy",)
    here = survey.this_python(names)
    workers._refuse_others(here, [here], [])
    with pytest.raises(Invalid, match=r"^far: another asif is in /old; remove it from there$"):
        workers._refuse_others(here, [here._replace(host="far", code="0", home="/old")], [])
    arm = here._replace(host="far", machine="linux-arm64", versions=(("numpy", None),))
    with pytest.raises(Invalid, match=r"^far: its Python lacks numpy, .* do not fit \(linux-arm64"):
        workers._refuse_others(here, [arm], ["numpy"])


LOST = "Job aborted due to stage failure: Task 3 in stage 1.0 failed 4 times, most recent failure: "
AT = "Lost task 3.3 in stage 1.0 (TID 8) (10.0.0.7 executor 1): "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
            "different version: 3.9 than that in driver: 3.11, PySpark cannot run",
            "10.0.0.7: Python 3.9 runs there, and Python 3.11 here",
        ),
        (
            'java.io.IOException: Cannot run program "/no/python": Exec failed, error: 2 '
            "(No such file or directory)",
            "10.0.0.7: /no/python cannot be run",
        ),
        ("ModuleNotFoundError: No module named 'mine'", "10.0.0.7: the Python there lacks"),
        ("java.io.IOException: No space left on device", "10.0.0.7: no space is left on the disk"),
        ("java.lang.OutOfMemoryError: Java heap space", "10.0.0.7: Java has not enough memory"),
    ],
)
def test_a_failure_is_a_line_with_its_host(text: str, words: str) -> None:
    said = explain(f"{LOST}{AT}{text}\n\tat org.apache.spark.A.b(C.java:1)")
    assert said is not None
    assert said.startswith(words)
    assert "\n" not in said
    assert lost_task(f"{LOST}{AT}{text}") is None


@pytest.mark.parametrize(
    "why",
    [
        "Python worker exited unexpectedly (crashed)",
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: x",
    ],
)
def test_a_dead_process_is_a_lost_task(why: str) -> None:
    assert lost_task(f"{LOST}{AT}org.apache.spark.SparkException: {why}\n") == (3, why)


def remove_when_sent(folder: Path, packed: Path) -> None:
    """Remove the user's files when the libraries are packed, which come after the files."""
    until = time.monotonic() + 400
    while not packed.exists():
        assert time.monotonic() < until
        time.sleep(POLL_S)
    for one in folder.glob("*.py"):
        one.unlink()


# --- on a cluster ----------------------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.exhaustive
def test_a_file_of_the_user_is_sent_with_the_files_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers have neither asif, nor a library, nor the files, which are gone by then."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "beside_relay.py").write_text("WORD = 'beside'\n")
    file = folder / "sent_relay.py"
    text = RELAY.read_text().replace(
        "from typing import", "import beside_relay\nfrom typing import"
    )
    file.write_text(text)
    tasks = [
        *list_tasks(
            str(file), subject(str(file)).protocol, "quick", walks=None, examples=20, mutants=True
        )
    ]
    expected = perform_all(perform, tasks)
    with bare(tmp_path, monkeypatch) as cluster, ThreadPoolExecutor(1) as aside:
        removing = aside.submit(remove_when_sent, folder, tmp_path / "s" / "asif-libraries.zip")
        found = perform_all(perform, tasks, calls_on_spark(tmp_path / "s", cluster.master, CONF, 1))
        removing.result()
    del sys.modules[file.stem]
    assert untimed(plain(found)) == untimed(plain(expected))


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.exhaustive
def test_the_commands_of_the_page_run_with_a_bare_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the first block, as they stand there, in a copy of the folders that they name."""
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    codes = {"amnesia": 1, "verify-trace": 1}
    with bare(tmp_path, monkeypatch) as cluster:
        for line in block[1].splitlines():
            words = shlex.split(line.replace("spark://host:7077", cluster.master))[1:]
            few = ["--seeds", "2", "--events", "1000"] if words[0] == "reproduce" else []
            ran = asif(*words, *few, *SMALL, cwd=tmp_path)
            expected = next((codes[word] for word in words[:2] if word in codes), 0)
            assert ran.returncode == expected, f"{line}\n{ran.stderr}"
            assert "Traceback" not in ran.stderr
            assert "the workers receive libraries that they lack" in ran.stderr


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.exhaustive
def test_a_cluster_that_cannot_work_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No worker; a Python that is not there.  Exit code 2."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    sweep = ["sweep", "docs/sweeps/quickstart.toml", "--out", "out", *SMALL]
    with standalone(tmp_path / "cluster", workers=0) as cluster:
        ran = asif(*sweep, "--master", cluster.master, "--wait", "8", cwd=tmp_path)
        said = f"asif: --master {cluster.master}: the master has no worker: start one; --wait 8"
        assert ran.returncode == 2
        assert f"waiting for {cluster.master}: the master has no worker: start one" in ran.stderr
        assert ran.stderr.splitlines()[-1] == f"{said} is over"
        cluster.start_worker()
        monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
        ran = asif(*sweep, "--master", cluster.master, cwd=tmp_path)
        assert ran.returncode == 2
        assert "/no/such/python cannot be run" in ran.stderr.splitlines()[-1]
    assert "Traceback" not in ran.stderr


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.slow
def test_what_is_no_spark_master_is_a_line(tmp_path: Path) -> None:
    """It accepts connections, and says nothing.  Spark itself would give up after a minute."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    sweep = ["sweep", "docs/sweeps/quickstart.toml", "--out", "out"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        master = f"spark://127.0.0.1:{listener.getsockname()[1]}"
        ran = asif(*sweep, "--master", master, "--wait", "1", cwd=tmp_path)
    assert ran.returncode == 2
    said = f"asif: --master {master}: not registered; is it a Spark master of version "
    assert ran.stderr.splitlines()[-1] == f"{said}{pyspark.__version__}?; --wait 1 is over"
    assert "Traceback" not in ran.stderr
