"""Cases of every command.

Rule of this file: a command, its files and its options; the content of the files is made elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from model.machine.journals import _HEADER
from tests.fuzz import logs, own_files, tables, toml_files
from tests.fuzz.case import Case
from tests.fuzz.values import BIG, NUMBERS, TEXTS, Raw, broken, value

NAMES = (
    "upstream-backup",
    "amnesia",
    "micro-batch",
    "abs",
    "no-such",
    "own.py",
    "own.py:x",
    "",
    ".py",
)


def word(pick: Random) -> str:
    """A word of a command line: no such word has a null."""
    one = pick.choice((*TEXTS, *NUMBERS, *BIG, *NAMES))
    text = one.text if isinstance(one, Raw) else str(one)
    return text.replace("\x00", "").encode(errors="surrogatepass").decode(errors="replace")[:9_000]


def options(pick: Random, known: str, often: int = 2) -> list[str]:
    """Options with words.  known: those of a command; "--x" is a flag, "--x=" has a word."""
    found = []
    for _ in range(pick.choice((0, 0, 1, 1, often))):
        name = pick.choice(known.split())
        if name.endswith("="):
            found += [name[:-1], word(pick)]
        else:
            found.append(name)
    return found


def set_words(pick: Random) -> list[str]:
    if pick.randrange(3):
        return []
    key = pick.choice(
        ("protocol", "seed", "stream.events", "failures.1.at_s", "x", "knobs.x", "a..b")
    )
    shown = pick.choice((word(pick), toml_files._text(value(pick)).replace("\x00", "")))
    return ["--set", f"{key}={shown}"[:9_000].encode(errors="replace").decode()]


def simulate(pick: Random) -> Case:
    files = {"s.toml": toml_files.file(pick, "scenarios")}
    how = pick.choice(
        ("", "", "", "--which", "--study", "--plot=p.png", "--trace=t.json", "--json=r")
    )
    return Case(("simulate", "s.toml", *set_words(pick), *([how] if how else [])), files)


def with_events(pick: Random) -> Case:
    """A scenario whose events are in a file."""
    suffix = pick.choice((".csv", ".parquet"))
    table = {"path": f"e{suffix}", "type": "type", "time": "time"}
    content = {
        "protocol": "upstream-backup",
        "file": table,
        "operators": [{"name": "m", "pattern": "a, b", "window": 4, "slide": 2}],
    }
    if not pick.randrange(3):
        content = toml_files.changed(pick, content)
    made = {"s.toml": toml_files.toml(content), f"e{suffix}": tables.FORMATS[suffix](pick)}
    return Case(("simulate", "s.toml", *set_words(pick)), made)


def plan(pick: Random) -> Case:
    files = {"p.toml": toml_files.file(pick, "plans")}
    return Case(
        ("plan", "p.toml", *pick.choice(((), (), ("--out", "o"), ("--json", "r.json")))), files
    )


def sweep(pick: Random) -> Case:
    seed = pick.choice(toml_files.seeds("scenarios"))
    scenario = toml_files.toml(seed if pick.randrange(3) else toml_files.changed(pick, seed))
    content = {"scenario": "s.toml", "grid": {"seed": [1, 2]}}
    files = {"s.toml": scenario, "w.toml": toml_files.toml(toml_files.changed(pick, content))}
    if not pick.randrange(3):
        files["build/sweep/w/_runs.jsonl"] = journal(pick)
    known = "--summary --plot=p.png --axes= --fresh --json=r.json"
    return Case(("sweep", "w.toml", *options(pick, known)), files)


def choose(pick: Random) -> Case:
    scenario = toml_files.toml(pick.choice(toml_files.seeds("scenarios")))
    content = {
        "scenario": "s.toml",
        "protocols": ["amnesia"],
        "target": {"recovery_s": 20.0},
        "ends": {"sources": "seeks"},
        "search": {"replications": 2, "lengths": 2, "refinements": 0},
    }
    changed = toml_files.toml(toml_files.changed(pick, content))
    files = {"s.toml": scenario, "w.toml": changed}
    if not pick.randrange(4):
        files["build/choose/w/_trials.jsonl"] = journal(pick)
    return Case(("choose", "w.toml", *(["--terms"] if pick.randrange(8) else [])), files)


def study(pick: Random) -> Case:
    content = {
        **toml_files.seeds("scenarios")[0],
        "failures": [{"nodes": ["x"], "mean_between_s": 1e6}],
    }
    files = {"s.toml": toml_files.toml(toml_files.changed(pick, content))}
    if not pick.randrange(2):
        files["build/study/s.jsonl"] = journal(pick)
    return Case(("simulate", "s.toml", "--study"), files)


def journal(pick: Random) -> bytes:
    """A journal that may be damaged."""
    lines = [json.dumps({"run": f"{at:016x}", "seed": at, "holds": True}) for at in range(3)]
    if pick.randrange(3):
        lines[pick.randrange(3)] = tables._json(value(pick))
    content = "\n".join(lines).encode(errors="surrogatepass") + pick.choice((b"\n", b""))
    content = pick.choice((_HEADER, _HEADER, b"")) + content
    return broken(pick, content) if pick.randrange(2) else content


def run(pick: Random) -> Case:
    suffix = pick.choice((".csv", ".parquet", ".csv", ".x"))
    made = tables.FORMATS.get(suffix, tables.csv_file)(pick)
    known = (
        "--type= --time= --pattern= --window-size= --window-slide= --key= --alone --strategy= "
        "--skip= --consume --one-run --crash= --limit= --protocol= --compare= --out=o --json=r.json"
    )
    words = (
        "run",
        "--events",
        f"e{suffix}",
        "--pattern",
        "a, b",
        "--window-size",
        "4",
        "--window-slide",
        "2",
        *options(pick, known),
    )
    return Case(words, {f"e{suffix}": made, "own.py": own_files.protocol(pick)})


def verify_trace(pick: Random) -> Case:
    suffix = pick.choice((*tables.FORMATS,))
    one, other = (tables.FORMATS[suffix](pick) for _ in range(2))
    if pick.randrange(2):
        other = pick.choice((one, broken(pick, one)))
    names = ("time", "type", "key", "number", "nth", "of", "x", "", "a.b", "key,key")
    chosen = []
    for option in ("--key", "--order", "--id", "--ignore", "--lineage"):
        if not pick.randrange(3):
            chosen += [option, pick.choice(names)]
    known = "--close= --sink= --show= --expect= --json=r.json"
    words = ("verify-trace", f"a{suffix}", f"b{suffix}", *chosen, *options(pick, known))
    return Case(words, {f"a{suffix}": one, f"b{suffix}": other})


def lineage(pick: Random) -> Case:
    events = (
        "ledger.book#3",
        "sums.totals#1",
        "shop.sales#2",
        "x",
        "a.b#1",
        "a.b#" + "9" * 30,
        "#",
    )
    record = pick.choice(('{"amount": 1}', "{", "[]", "1", "{}", '{"a":' * 3_000, '{"a": 1e999}'))
    asked = pick.choice(((), (pick.choice(events),), (pick.choice(events),)))
    more = pick.choice(
        (
            (),
            ("--forward",),
            ("--record", record),
            ("--scope", "shop.sales:sums.totals"),
            ("--out", "o"),
            ("--json", "r.json"),
            ("--scope", word(pick)),
        )
    )
    return Case(("lineage", "log.db", *asked, *(more if asked else ())), {"log.db": logs.log(pick)})


PROTOCOL_COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("list", "own.py"), ("list", "own.py"), ("simulate", "--explain", "own.py")),
    *(("witness", "own.py", "--limit", "200"), ("prove", "own.py"), ("classify", "own.py")),
    *(("simulate", "s.toml", "--set", "protocol=own.py"), ("simulate", "s.toml", "--which")),
    (
        "run",
        "--events",
        "e.csv",
        "--pattern",
        "a",
        "--window-size",
        "2",
        "--window-slide",
        "1",
        "--protocol",
        "own.py",
    ),
    ("check", "own.py", "--limit", "200", "--walks", "2", "--examples", "1", "--workers", "1"),
)


def protocol_file(pick: Random) -> Case:
    scenario = toml_files.toml(pick.choice(toml_files.seeds("scenarios")))
    files = {
        "own.py": own_files.protocol(pick),
        "s.toml": scenario,
        "e.csv": b"time,type\n1,a\n2,a\n",
    }
    return Case(pick.choice(PROTOCOL_COMMANDS), files)


def box_file(pick: Random) -> Case:
    return Case(("classify", "own.py", "--limit", "200"), {"own.py": own_files.box(pick)})


KNOWN = {
    "list": "--json=",
    "init": "--help",
    "witness": "--limit= --json=",
    "classify": "--limit= --json=",
    "plan": "--out= --json=",
    "lineage": "--forward --scope= --record= --depends= --out= --json=",
    "simulate": "--set= --plot= --trace= --explain --which --study --json=",
    "choose": "--terms --out=",
    "sweep": "--out= --master= --conf= --axes= --plot= --json=",
    "reproduce": "--seeds= --events= --conf=",
    "spark": "--profile= --out=",
    "flink": "--profile= --out=",
    "report": "--profile=",
    "calibrate": "--out=",
    "verify-trace": "--key= --order= --id= --close= --sink= --show= --conf= --master=",
    "check": "--scope= --profile= --walks= --examples= --workers= --limit= --seconds= --memory= "
    "--spill= --operators= --pin --yes --duties --mutants --whole",
    "prove": "--smtlib= --markdown=",
}
"""The options of every command; in these cases, a first word keeps each from long work."""


def words(pick: Random) -> Case:
    """A command with any words."""
    name = pick.choice((*KNOWN,))
    first = [pick.choice(TEXTS[:30]).replace("\x00", "") or "no-such"]
    many = first * pick.choice((1, 1, 2))
    return Case((name, *many, *options(pick, KNOWN[name], 3)))


def files_that_are_none(pick: Random) -> Case:
    """Where a command reads a file, there is a folder, nothing, or a device."""
    place = pick.choice(
        ("d", "d/x", "no", "/dev/null", "/dev/full", "d/..", "own.py/x", "d.py", "d.toml")
    )
    command = pick.choice(
        (
            ("simulate",),
            ("plan",),
            ("sweep",),
            ("choose", "--terms"),
            ("lineage",),
            ("classify",),
            ("list",),
            ("run", "--pattern", "a", "--events"),
            ("verify-trace", "a.csv"),
            ("check",),
        )
    )
    return Case((*command, place), {"a.csv": b"a\n1\n"}, ("d", "d.py", "d.toml"))


KINDS: tuple[Callable[[Random], Case], ...] = (
    *(
        simulate,
        simulate,
        with_events,
        plan,
        plan,
        sweep,
        choose,
        study,
        run,
        verify_trace,
        verify_trace,
    ),
    *(lineage, lineage, protocol_file, protocol_file, protocol_file, box_file, words, words),
    files_that_are_none,
)


def case(pick: Random) -> Case:
    """A case of any command."""
    return pick.choice(KINDS)(pick)
