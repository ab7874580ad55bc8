"""`asif init`: write a protocol of one's own to begin with, and its test.

Rule of this file: no protocol (asif/templates); the file checks the name and writes two files.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from asif.console import print_all
from asif.force import forced
from model.errors import Invalid

InitArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="The name of the protocol and of its file.")
]
NEXT = (
    *("asif check {}.py", "asif check {}.py --duties", "asif check {}.py --pin"),
    "pytest test_{}.py",
)


def init(name: InitArgument) -> None:
    """Write NAME.py, a protocol that works at once, and test_NAME.py, which checks it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from model.machine import files

    _check_name(name)
    pages = {Path(f"{name}.py"): "protocol.py.j2", Path(f"test_{name}.py"): "test_protocol.py.j2"}
    for path in pages:
        if path.exists() and not forced():
            raise Invalid(f"init: {path} is there already; give another name, or --force")
    loader = FileSystemLoader(Path(__file__).parents[1] / "templates")
    templates = Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True)
    rendered = {p: templates.get_template(one).render(name=name) for p, one in pages.items()}
    files.write(rendered, force=forced())
    print_all([f"{name}.py", f"test_{name}.py", "now run:"])
    print_all(f"  {command.format(name)}" for command in NEXT)


def _check_name(name: str) -> None:
    """Raise Invalid for a name that no module of a user can have."""
    if not name.isidentifier() or keyword.iskeyword(name):
        fixed = re.sub(r"\W+", "_", Path(name.removesuffix(".py")).name).strip("_")
        better = fixed if fixed.isidentifier() and not keyword.iskeyword(fixed) else "my_protocol"
        raise Invalid(f"init: {name!r} is no name of a Python module; write asif init {better}")
    if name in sys.stdlib_module_names or name in sys.modules:
        raise Invalid(f"init: the module name {name!r} is taken; write asif init my_{name}")
