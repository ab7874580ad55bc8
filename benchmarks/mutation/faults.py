"""All one-line faults of a source text: the slips of a hand.

Rule of this file: no fault by chance; the same text has the same faults.  Annotations, docstrings,
texts and decorators have none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}

Replacement: TypeAlias = tuple[ast.AST, str]
"""A part of the tree, and the text to put in its place."""


class Fault(NamedTuple):
    """where: the class and function.  old, new: the lines that the fault changes, without their
    spaces at the beginning.  source: the whole module with the fault."""

    where: str
    line: int
    old: str
    new: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.where, self.old, self.new


def find_faults(source: str) -> list[Fault]:
    """All faults of a module, from its first line to its last, each once."""
    found: dict[tuple[str, int, str], Fault] = {}
    for where, node, text in _replacements(ast.parse(source), ()):
        fault = _apply(source, where, node, text)
        if fault.old != fault.new:
            found.setdefault((fault.where, fault.line, fault.new), fault)
    return sorted(found.values(), key=lambda fault: (fault.line, fault.new))


def _apply(source: str, where: str, node: ast.AST, text: str) -> Fault:
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    changed = before + text + after
    return Fault(
        where,
        node.lineno,
        " ".join("".join(lines[first : last + 1]).split()),
        " ".join(changed.split()),
        "".join([*lines[:first], changed, *lines[last + 1 :]]),
    )


def _replacements(node: ast.AST, where: tuple[str, ...]) -> Iterator[tuple[str, ast.AST, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = (*where, node.name)
    for place, text in _of_node(node):
        yield ".".join(where), place, text
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        if isinstance(node, ast.AnnAssign) and _is_alias(node):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _replacements(child, where)


def _is_alias(node: ast.AnnAssign) -> bool:
    return isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"


def _of_node(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() as value):
            yield node, str(value + 1)
            yield node, f"({value - 1})" if value < 1 else str(value - 1)
        case ast.BoolOp(op=joined, values=values):
            other = " or " if isinstance(joined, ast.And) else " and "
            same = " and " if isinstance(joined, ast.And) else " or "
            texts = [f"({ast.unparse(value)})" for value in values]
            yield node, f"({other.join(texts)})"
            for left_out in range(len(texts)):
                yield node, f"({same.join(texts[:left_out] + texts[left_out + 1 :])})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"bool({ast.unparse(operand)})"
        case ast.BinOp(left=left, op=operation, right=right):
            if type(operation) in OPERATIONS:
                swapped = ast.BinOp(left, OPERATIONS[type(operation)](), right)
                yield node, f"({ast.unparse(swapped)})"
        case ast.IfExp(test=test) | ast.If(test=test):
            yield from ((test, text) for text in ("True", "False"))
        case ast.comprehension(ifs=tests):
            yield from ((test, text) for test in tests for text in ("True", "False"))
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield node.func, CALLS[name]
        case ast.Slice():
            yield from (
                (bound, f"({ast.unparse(bound)}) + 1")
                for bound in (node.lower, node.upper)
                if bound and not isinstance(bound, ast.Constant)
            )
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if any(
            isinstance(part, ast.Starred) for part in parts
        ):
            yield from _of_display(node, parts)
        case ast.FunctionDef():
            yield from _of_function(node)


def _of_comparison(node: ast.Compare) -> Iterator[Replacement]:
    for place, operation in enumerate(node.ops):
        for other in COMPARISONS[type(operation)]:
            operations = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield node, f"({ast.unparse(ast.Compare(node.left, operations, node.comparators))})"


def _of_display(node: ast.AST, parts: list[ast.expr]) -> Iterator[Replacement]:
    """A part left out, and two neighbours swapped."""
    texts = [ast.unparse(part) for part in parts]
    left, right = "()" if isinstance(node, ast.Tuple) else "[]"
    orders = [texts[:at] + texts[at + 1 :] for at in range(len(texts))] + [
        [*texts[:at], texts[at + 1], texts[at], *texts[at + 2 :]] for at in range(len(texts) - 1)
    ]
    for order in orders:
        yield node, f"{left}{''.join(text + ', ' for text in order)}{right}"


def _of_function(function: ast.FunctionDef) -> Iterator[Replacement]:
    """Statements left out, results forgotten, loops left or gone on with."""
    set_ = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    for node in _statements(function):
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr() | ast.AugAssign() | ast.Raise():
                yield node, "pass"
                if isinstance(node, ast.AugAssign) and type(node.op) in OPERATIONS:
                    other = ast.AugAssign(node.target, OPERATIONS[type(node.op)](), node.value)
                    yield node, ast.unparse(other)
            case ast.Assign(targets=[target]):
                names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
                if names <= set_:  # else the name would be missing, which every test finds
                    yield node, "pass"
                set_ |= {name for name in names if isinstance(target, ast.Name | ast.Tuple)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                set_.add(name)
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
                yield node, "return None"
            case ast.Continue():
                yield from ((node, text) for text in ("break", "pass"))
            case ast.Break():
                yield from ((node, text) for text in ("continue", "pass"))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and not isinstance(child, ast.FunctionDef):
            yield child
            yield from _statements(child)
