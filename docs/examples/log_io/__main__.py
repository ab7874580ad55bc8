"""The example's commands: run the pipeline or some of its operators, show its log and its effects.

Rule of this file: it reads arguments and prints; the pipeline is in pipeline.py.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from docs.examples.log_io import pipeline
from docs.examples.log_io.external import lines
from spark_check.log_io.library import Log


def main() -> None:
    arguments = _arguments()
    folder: Path = arguments.folder
    if arguments.fresh and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    place = arguments.log or str(folder / "log.db")
    watch = pipeline.kill_at(arguments.kill_at) if arguments.kill_at else _ignore
    with Log(place, pipeline.captured(), watch=watch) as log:
        if arguments.command == "run":
            pipeline.run(log, folder, watch, arguments.operators or pipeline.OPERATORS)
            print("nothing is left to do")
        else:
            _show(log, folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m docs.examples.log_io")
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("folder", type=Path, help="of the log and of the outside world")
    parser.add_argument("operators", nargs="*", help="those to run; none: all")
    parser.add_argument("--log", help="a URL of PostgreSQL, instead of FOLDER/log.db")
    parser.add_argument("--fresh", action="store_true", help="delete the folder first")
    parser.add_argument("--kill-at", type=int, help="SIGKILL before this statement or effect")
    arguments = parser.parse_args()
    unknown = {*arguments.operators} - {*pipeline.OPERATORS}
    if unknown:
        parser.error(f"no operator {', '.join(unknown)}: give {', '.join(pipeline.OPERATORS)}")
    return arguments


def _ignore(_what: str) -> None:
    """Nobody kills this process."""


def _show(log: Log, folder: Path) -> None:
    """What is undone in the log, and, once nothing is, whether all effects are right."""
    undone = 0
    for operator in pipeline.OPERATORS:
        stored = log.get_proc_state(operator)
        waiting = len(log.fetch_new_events(operator))
        open_ = len(log.fetch_ack_events(operator, stored[2])) if stored else 0
        writes = len(log.get_write_actions(operator))
        print(f"{operator}: {waiting} new events, {open_} in Input Sets, {writes} pending writes")
        undone += waiting + open_ + writes
    print(f"the till was read {len(lines(folder / 'till.jsonl'))} times")
    expected = pipeline.expected(pipeline.used_readings(folder))
    for name, file in pipeline.BOOKS.items():
        found = lines(folder / file)
        right = "as without failures" if found == expected[name] else "LOST OR DOUBLED"
        print(f"{file}: {len(found)} lines, {'not all yet' if undone else right}")


if __name__ == "__main__":
    main()
