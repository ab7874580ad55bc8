"""Flink's REST interface, as functions of a JobManager.

Rule of this file: each method is a request; answers.py reads the answers.  Every method
raises Unanswered if nobody answers, or the answer is an error; `flink.wait_for` asks again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from flink_check.runtime import answers
from flink_check.runtime.answers import (
    CheckpointHistory,
    ClusterSize,
    JobFailure,
    Json,
    Subtask,
)
from flink_check.runtime.configuration import HOST
from flink_check.runtime.waiting import Unanswered

TIMEOUT_S = 30
_MARK = "asif-jar-boundary"


class SavepointFormat(StrEnum):
    """How a savepoint is written."""

    CANONICAL = "CANONICAL"
    """In a form of its own, for every state backend."""
    NATIVE = "NATIVE"
    """As a checkpoint."""


class Rest:
    """Requests to the JobManager on a port of this machine.  job: the id that `run` returned."""

    def __init__(self, port: int) -> None:
        self.address = f"http://{HOST}:{port}"

    # --- the cluster ---------------------------------------------------------------------------
    def size(self) -> ClusterSize:
        return answers.cluster_size(self.get("/overview"))

    def upload(self, jar: Path) -> str:
        """Upload a jar: its id."""
        head = (
            f'--{_MARK}\r\nContent-Disposition: form-data; name="jarfile"; filename="{jar.name}"'
            "\r\nContent-Type: application/x-java-archive\r\n\r\n"
        )
        body = head.encode() + jar.read_bytes() + f"\r\n--{_MARK}--\r\n".encode()
        kind = f"multipart/form-data; boundary={_MARK}"
        return str(self._send("POST", "/jars/upload", body, kind)["filename"]).rsplit("/", 1)[1]

    def run(
        self,
        jar: str,
        main: str,
        words: Sequence[str],
        restore: str | None = None,
        *,
        may_drop: bool = False,
    ) -> str:
        """Run the main class of an uploaded jar: the id of its job.

        restore: the address of a checkpoint or savepoint.  may_drop: it may hold state of which
        the job has no operator (allowNonRestoredState).
        """
        body: dict[str, object] = {"entryClass": main, "programArgsList": [*words]}
        if restore is not None:
            body |= {"savepointPath": restore, "allowNonRestoredState": may_drop}
        return str(self.post(f"/jars/{quote(jar)}/run", body)["jobid"])

    # --- a job -------------------------------------------------------------------------------
    def jobs(self) -> Mapping[str, str]:
        """Each known job -> its state."""
        return {one["id"]: one["status"] for one in self.get("/jobs")["jobs"]}

    def state(self, job: str) -> str:
        """RUNNING, RESTARTING, FINISHED, CANCELED, FAILED or another word of Flink."""
        return str(self.get(f"/jobs/{job}")["state"])

    def all_running(self, job: str) -> bool:
        """Whether every task of the job runs or has ended as it should."""
        return answers.all_running(self.get(f"/jobs/{job}"))

    def cancel(self, job: str) -> None:
        """Begin to cancel the job."""
        self._send("PATCH", f"/jobs/{job}?mode=cancel", b"{}")

    def failures(self, job: str) -> tuple[JobFailure, ...]:
        """The last failures of the job, oldest first; 20 at most."""
        return answers.failures(self.get(f"/jobs/{job}/exceptions?maxExceptions=20"))

    def subtasks(self, job: str) -> Mapping[str, tuple[Subtask, ...]]:
        """The name of each vertex -> its subtasks, with the TaskManagers on which they run."""
        return {
            name: answers.subtasks(self.get(f"/jobs/{job}/vertices/{vertex}"))
            for name, vertex in answers.vertices(self.get(f"/jobs/{job}")).items()
        }

    def metrics(self, job: str, vertex: str, names: Sequence[str]) -> Mapping[str, float]:
        """Metrics of a vertex, by its name; a name is SUBTASK.METRIC as Flink lists them."""
        id_ = answers.vertices(self.get(f"/jobs/{job}"))[vertex]
        wanted = quote(",".join(names))
        return answers.metrics(self.get(f"/jobs/{job}/vertices/{id_}/metrics?get={wanted}"))

    # --- checkpoints and savepoints --------------------------------------------------------------
    def checkpoints(self, job: str) -> CheckpointHistory:
        return answers.history(self.get(f"/jobs/{job}/checkpoints"))

    def request_checkpoint(self, job: str) -> None:
        """Ask for a checkpoint, which is then under way."""
        self.post(f"/jobs/{job}/checkpoints", {"checkpointType": "CONFIGURED"})

    def request_savepoint(self, job: str, folder: str, form: SavepointFormat) -> str:
        """Ask for a savepoint, while the job goes on: the id of the request."""
        body = {"target-directory": folder, "formatType": form.value, "cancel-job": False}
        return str(self.post(f"/jobs/{job}/savepoints", body)["request-id"])

    def request_stop(self, job: str, folder: str, form: SavepointFormat, drain: bool) -> str:
        """Ask for a stop with a savepoint: the id of the request.  drain: as if the input ended."""
        body = {"targetDirectory": folder, "formatType": form.value, "drain": drain}
        return str(self.post(f"/jobs/{job}/stop", body)["request-id"])

    def savepoint(self, job: str, request: str) -> str | None:
        """The address of a requested savepoint; None while it is under way.  Raises RuntimeError
        if it failed."""
        answer = self.get(f"/jobs/{job}/savepoints/{request}")
        try:
            return answers.finished_operation(answer)
        except ValueError as error:
            raise RuntimeError(f"the savepoint failed: {error}") from None

    # --- requests ------------------------------------------------------------------------------
    def get(self, path: str) -> Json:
        """The decoded answer to GET."""
        return self._send("GET", path)

    def post(self, path: str, body: Mapping[str, object]) -> Json:
        """The decoded answer to POST."""
        return self._send("POST", path, json.dumps(body).encode())

    def _send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> Json:
        request = Request(self.address + path, body, {"Content-Type": kind}, method=method)
        try:
            with urlopen(request, timeout=TIMEOUT_S) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except HTTPError as error:
            why = error.read().decode(errors="replace").strip()[:1000]
            raise Unanswered(f"{method} {path}: {error.code}: {why}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise Unanswered(f"{method} {path}: {error}") from None
