"""A chaos test: kill a job, start it again, and ask what kind of recovery its output shows.

`python docs/examples/chaos_trace.py` kills a job that counts events by user, appends its results to
a file, and saves its state after every tenth event.  What it says again after the crash, it said
before: that is repeating recovery.  Put your own engine in the place of `job`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from model.core import Guarantee
from spark_check.traces.verify import verify


def job(output: Path, crash_at: int) -> None:
    state = output.with_suffix(".state")
    start, counts = json.loads(state.read_text()) if state.exists() else (0, {})
    with output.open("a", buffering=1) as log:
        for event in range(start, 100):
            user = f"user-{event % 3}"
            counts[user] = counts.get(user, 0) + 1
            log.write(json.dumps({"user": user, "count": counts[user]}) + "\n")
            if event == crash_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if event % 10 == 9:
                state.write_text(json.dumps([event + 1, counts]))


def chaos(folder: Path) -> None:
    def run(name: str, crash_at: int = -1) -> int:
        return subprocess.run([sys.executable, __file__, folder / name, str(crash_at)]).returncode

    assert run("reference.jsonl") == 0
    assert run("actual.jsonl", crash_at=57) == -signal.SIGKILL
    assert run("actual.jsonl") == 0  # it recovers from its state
    result = verify(
        folder / "reference.jsonl",
        folder / "actual.jsonl",
        key=["user"],
        order=["count"],
        expect=Guarantee.REPEATING,
    )
    print(f"{result.guarantee} recovery, {result.rows.duplicated} rows said twice")
    assert result.holds, result.differences


def main(arguments: Sequence[str]) -> None:
    if arguments:
        job(Path(arguments[0]), int(arguments[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            chaos(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
