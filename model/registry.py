"""The protocols by name: those that come with the project, and those of a user's own files.

Rule of this file: no list of families; every folder in model/protocols is one and has its name: its
`protocol.py` holds PROTOCOL, its `findings` FINDINGS.  A mistake of the user is one line: what,
where, what would be right.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import model.protocols
from model.errors import Invalid, pass_ctrl_c, unknown, words_of
from model.evidence import Case
from model.finding import FindingTable
from model.machine.input_files import require_file
from model.machine.users_code import watch
from model.protocol import Protocol
from model.shapes import wrong_parts

SENT = "asif_sent_files"
"""The module with the user's files in a process on another machine, which has no such files."""


def modules() -> Mapping[str, Protocol]:
    """Every registered protocol by the name of its module, in the order of the folders' names."""
    return _import(_folders())


def _folders() -> list[str]:
    return [family.name for family in pkgutil.iter_modules(model.protocols.__path__)]


def _import(folders: Iterable[str]) -> Mapping[str, Protocol]:
    names = (f"model.protocols.{folder}.protocol" for folder in folders)
    return {name: importlib.import_module(name).PROTOCOL for name in names}


def protocols() -> Mapping[str, Protocol]:
    """Every protocol and variant by its own name."""
    return {
        variant.name: variant
        for protocol in modules().values()
        for variant in (protocol, *protocol.variants)
    }


def findings() -> Mapping[str, tuple[FindingTable, ...]]:
    """The tables of findings of every family that has some, by the name of its protocol."""
    homes = {
        protocol.name: f"{home.removesuffix('.protocol')}.findings"
        for home, protocol in modules().items()
    }
    return {
        name: importlib.import_module(home).FINDINGS
        for name, home in homes.items()
        if importlib.util.find_spec(home)
    }


def unprotected() -> Protocol:
    """The protocol that protects nothing: the baseline of what protection costs."""
    (found,) = (protocol for protocol in modules().values() if not protocol.promise.protects)
    return found


# --- a name on the command line --------------------------------------------------------------
class Subject(NamedTuple):
    """A protocol.  home: the name of the imported module whose PROTOCOL is the protocol, or has it
    as a variant."""

    protocol: Protocol
    home: str


def is_file(name: str) -> bool:
    """Does `name` mean a file of the user, or a variant in such a file?"""
    return name.endswith(".py") or ".py:" in name


def file_of(name: str) -> Path:
    """The file that `name` means, without the variant."""
    return Path(f"{name.rpartition('.py')[0]}.py")


def absolute(name: str) -> str:
    """The same name with an absolute path, which works in every folder."""
    return f"{file_of(name).resolve()}{name.rpartition('.py')[2]}" if is_file(name) else name


def subject(name: str) -> Subject:
    """The protocol called `name`, or the protocol in the file `name` if `name` ends in .py.

    FILE.py:VARIANT is a variant of this protocol, by its full name or by the part after the colon.
    """
    if is_file(name):
        variant = name.rpartition(".py")[2]
        found = _from_file(file_of(name))
        return found if not variant else _variant(found, variant.removeprefix(":"))
    folder = name.partition(":")[0].replace("-", "_")
    # To import all families takes longer than most commands take with one.
    known = _subjects(_import(one for one in _folders() if one == folder))
    if name in known:
        return known[name]
    if Path(f"{name}.py").is_file():
        raise Invalid(f"unknown protocol {name!r}; the protocol of a file is called {name}.py")
    raise unknown("protocol", name, protocols())


def _subjects(homes: Mapping[str, Protocol]) -> Mapping[str, Subject]:
    """Protocols and variants by name.  homes: protocols by the name of their modules."""
    return {
        variant.name: Subject(variant, home)
        for home, protocol in homes.items()
        for variant in (protocol, *protocol.variants)
    }


def _variant(found: Subject, name: str) -> Subject:
    known = {variant.variant: variant for variant in found.protocol.variants}
    known |= {variant.name: variant for variant in found.protocol.variants}
    if name not in known:
        raise unknown("variant", name, [variant.name for variant in found.protocol.variants])
    return Subject(known[name], found.home)


def import_file(path: Path) -> ModuleType:
    """The module in a file of the user; imported once.  Raises Invalid."""
    place, source = _sent(path)
    if source is None:
        if not path.exists():
            raise Invalid(f"{path}: no such file")
        require_file(path)
    home = path.stem
    if not home.isidentifier():
        raise Invalid(f"{path}: {home!r} is no name for a Python module; rename the file")
    loaded = sys.modules.get(home)
    if loaded is not None:
        if getattr(loaded, "__file__", None) == place:
            return loaded
        raise Invalid(f"{path}: the module name {home!r} is taken; rename the file")
    with module_of(Path(place), None if source is None else _SentFile(place, source)) as module:
        assert module.__spec__ is not None  # the name ends in .py
        assert module.__spec__.loader is not None
        module.__spec__.loader.exec_module(module)
    sys.modules[home] = module
    return module


def is_there(path: Path) -> bool:
    """Is there such a file, here or where the work of this process comes from?"""
    return _sent(path)[1] is not None or path.is_file()


def _sent(path: Path) -> tuple[str, bytes | None]:
    """The absolute path of a user's file, and its content if another machine sent it along.

    There its path counts, also from the folder in which the command was given.
    """
    if importlib.util.find_spec(SENT) is None:
        return str(path.resolve()), None
    sent = importlib.import_module(SENT)
    place = str(Path(sent.FOLDER, path).resolve())
    source = sent.SOURCES.get(place)
    return (str(path.resolve()), None) if source is None else (place, source)


class _SentFile(SourceLoader):
    """The loader of a file that lies on another machine."""

    def __init__(self, place: str, source: bytes) -> None:
        self._place, self._source = place, source

    def get_filename(self, fullname: str) -> str:
        return self._place

    def get_data(self, path: str) -> bytes:
        if path != self._place:
            raise OSError(f"{path}: it was not sent")
        return self._source


@contextmanager
def module_of(path: Path, loader: SourceLoader | None = None) -> Iterator[ModuleType]:
    """A new module for code of the file, which other modules can import while the code runs.

    Afterwards the modules are as before, and Python has left no __pycache__ beside the file, which
    is a user's.  loader: None: the file is on this machine.  Raises Invalid if the code raises.
    """
    home, folder = path.stem, str(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(home, path.resolve(), loader=loader)
    assert spec is not None
    module, loaded = importlib.util.module_from_spec(spec), sys.modules.get(home)
    sys.modules[home] = module
    sys.path.insert(0, folder)  # for files beside it
    watch(path)
    traceless, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield module
    except BaseException as error:
        pass_ctrl_c(error)
        raise _refuse_import(path, error) from error
    finally:
        sys.dont_write_bytecode = traceless
        del sys.path[0]
        del sys.modules[home]
        if loaded is not None:
            sys.modules[home] = loaded


def _refuse_import(path: Path, error: BaseException) -> Invalid:
    """The error about a file whose import raises: the line of the file, and the reason."""
    file = str(path.resolve())
    lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == file]
    reason = _reason(error)
    if isinstance(error, SyntaxError):
        here = error.filename == file
        lines = [error.lineno or 0] if here else lines
        reason = error.msg if here else f"{error.filename}:{error.lineno}: {error.msg}"
    where = f"{path}:{lines[-1]}" if lines and lines[-1] else f"{path}"
    return Invalid(f"{where}: importing it raises {type(error).__name__}: {reason}")


def _reason(error: BaseException) -> str:
    try:
        text = traceback.format_exception_only(error)[-1].partition(": ")[2]  # with "Did you mean"
    except Exception:  # of a class that is anybody's
        text = words_of(error)
    return text.strip().partition("\n")[0] or "no reason given"


def _from_file(path: Path) -> Subject:
    module = import_file(path)
    home = path.stem
    protocol = getattr(module, "PROTOCOL", None)
    if not isinstance(protocol, Protocol):
        del sys.modules[home]
        kind = "has no PROTOCOL" if protocol is None else f"PROTOCOL is a {type(protocol).__name__}"
        raise Invalid(f"{path}: {kind}; it must hold PROTOCOL, a Protocol (asif.protocol)")
    try:
        _check(protocol)
    except Invalid as error:
        del sys.modules[home]
        raise Invalid(f"{path}: {error}") from None
    return Subject(protocol, home)


def _check(protocol: Protocol) -> None:
    """Raise Invalid where a name would not say what it stands for, or nothing can be explored."""
    for part in wrong_parts(protocol, Protocol, "PROTOCOL"):
        made = "; its holds() or fails() makes one" if isinstance(part.value, Case) else ""
        raise Invalid(f"{part}{made}")
    known: set[str] = set()
    for one in (protocol, *protocol.variants):
        if one.name in known:
            raise Invalid(f"two protocols are called {one.name!r}; give each a name of its own")
        known.add(one.name)
        called = "PROTOCOL" if one is protocol else one.name
        if not one.evidence.scopes:
            raise Invalid(f"{called} has no scopes; give at least one Case, which holds or fails")
        names = [pinned.name for pinned in one.evidence.scopes]
        given = {"family": [one.family], "property": [p.name for p in one.promise.properties]}
        for what, some in {**given, "scope": names}.items():
            if not all(name.strip() for name in some):
                raise Invalid(f"{called} has a {what} without a name; give it one")
        for name in names:
            if names.count(name) > 1:
                raise Invalid(f"{called} has two scopes called {name!r}; give each its own name")
