"""The example's commands: run the pipeline or some of its operators, show its log and its effects.

Rule of this file: it reads arguments and prints; the pipeline is in pipeline.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from asif.log_io import Log, LogError, is_url, read_log, retention
from docs.examples.log_io import pipeline
from docs.examples.log_io.external import Watch, lines
from model.errors import Invalid
from model.machine.folders import claimed, emptied, refuse_foreign


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    unknown = {*arguments.operators} - {*pipeline.OPERATORS}
    if unknown:
        parser.error(f"no operator {', '.join(unknown)}: give {', '.join(pipeline.OPERATORS)}")
    if arguments.kill_at is not None and arguments.kill_at < 1:
        parser.error(f"--kill-at {arguments.kill_at}: statements and effects are counted from 1")
    folder: Path = arguments.folder
    if folder.exists() and not folder.is_dir():
        parser.error(f"{folder}: give a folder")
    place = arguments.log or str(folder / "log.db")
    if arguments.command == "show":
        try:
            with read_log(place) as log:
                _show(log, folder)
        except LogError as error:
            parser.error(f"{error} (run writes it)")
        return
    try:
        refuse_foreign([folder])
        if is_url(place):  # a server that refuses it changes nothing in the folder
            _opened(parser, place, False, pipeline.ignore, 0.0).close()
        (emptied if arguments.fresh else claimed)(folder)
    except Invalid as error:
        parser.error(str(error))
    watch = pipeline.kill_at(arguments.kill_at) if arguments.kill_at else pipeline.ignore
    operators = arguments.operators or pipeline.OPERATORS
    try:
        with _opened(parser, place, arguments.fresh, watch, arguments.wait) as log:
            log.take(*operators)
            pipeline.run(log, folder, watch, operators)
            print("nothing is left to do")
    except LogError as error:
        raise SystemExit(f"{error} (run again goes on)") from None


def _opened(
    parser: argparse.ArgumentParser, place: str, fresh: bool, watch: Watch, wait_s: float
) -> Log:
    """The log, empty if it is to be a fresh one."""
    try:
        if fresh:
            with Log(place) as log:
                retention.forget_everything(log)
        return Log(place, pipeline.captured(), watch=watch, wait_s=wait_s)
    except LogError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m docs.examples.log_io")
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("folder", type=Path, help="of the log and of the outside world")
    parser.add_argument("operators", nargs="*", help="those to run; none: all")
    parser.add_argument("--log", help="a URL of PostgreSQL, instead of FOLDER/log.db")
    parser.add_argument("--fresh", action="store_true", help="empty folder and log first")
    parser.add_argument(
        "--wait", type=float, default=0.0, help="seconds, for another process that runs them"
    )
    parser.add_argument("--kill-at", type=int, help="SIGKILL before this statement or effect")
    return parser


def _show(log: Log, folder: Path) -> None:
    """What is undone in the log, and, once nothing is, whether all effects are right."""
    till = lines(folder / "till.jsonl")
    undone = 0
    for operator in pipeline.OPERATORS:
        stored = log.get_proc_state(operator)
        new = log.fetch_new_events(operator)
        waiting = len(new.events)
        open_ = len(log.fetch_ack_events(operator, stored[2])) if stored else 0
        writes = len(log.get_write_actions(operator))
        new_events = f"{waiting}{' or more' if new.more else ''} new events"
        print(f"{operator}: {new_events}, {open_} in Input Sets, {writes} pending writes")
        undone += waiting + open_ + writes
    print(f"the till was read {len(till)} times")
    expected = pipeline.expected(pipeline.used_readings(folder))
    for name, file in pipeline.BOOKS.items():
        found = lines(folder / file)
        right = "as without failures" if found == expected[name] else "LOST OR DOUBLED"
        print(f"{file}: {len(found)} lines, {'not all yet' if undone or not till else right}")


if __name__ == "__main__":
    main()
