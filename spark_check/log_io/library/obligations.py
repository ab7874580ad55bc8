"""The facts that the state of an operator must know when a transaction commits.

Rule of this file: it compares numbers; no row is read or written here.

A step that stores no state, or an old context, would lose its numbers at the next restart: an input
would be taken twice, or two outputs would have one number.  It is refused at the end of its
transaction, when it is made, and not at the restart.  An input whose Input Set is still open is not
looked at: an operator may have assigned it, and not have seen it yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spark_check.log_io.library.context import Context
from spark_check.log_io.library.values import Event, LogError


class Obligations:
    """Of one transaction: the numbers it has used, and the context that each operator stores."""

    def __init__(self) -> None:
        self._contexts: dict[str, Context] = {}
        self._sent: dict[tuple[str, str], int] = {}
        self._accepted: dict[tuple[str, str], int] = {}
        self._in_sets: dict[str, int] = {}

    def stores(self, operator: str, context: Context) -> None:
        self._contexts[operator] = context

    def sends(self, outputs: Iterable[Event]) -> None:
        for one in outputs:
            _raise(self._sent, (one.sender, one.port), one.number)

    def ends(self, operator: str, in_set: int) -> None:
        self._in_sets[operator] = max(in_set, self._in_sets.get(operator, 0))

    def uses(self, operator: str, port: str, number: int) -> None:
        """An input of an Input Set that ends."""
        _raise(self._accepted, (operator, port), number)

    def check(self) -> None:
        """Raise LogError if a state is not stored, or its context does not know a number."""
        for operator in sorted({*self._in_sets, *(name for name, _ in self._sent)}):
            if operator not in self._contexts:
                raise LogError(
                    f"{operator}: outputs are logged, and no state: call store_state in the same"
                    " transaction"
                )
            for fact in self._unknown(operator, self._contexts[operator]):
                raise LogError(
                    f"{operator}: the stored context {fact} returned, and not an older one"
                )

    def _unknown(self, operator: str, context: Context) -> Iterator[str]:
        """The facts of the operator that its context does not know."""
        for (name, port), number in self._sent.items():
            if name == operator and number > context.sent.get(port, 0):
                yield f"has not given number {number} on {port}: store the one that send"
        for (name, port), number in self._accepted.items():
            if name == operator and number > context.accepted.get(port, 0):
                yield f"has not seen input {number} on {port}: store the one that see"
        if self._in_sets.get(operator, 0) > context.in_sets:
            number = self._in_sets[operator]
            yield f"does not know Input Set {number}: store the one that new_in_set or see"


def _raise(greatest: dict[tuple[str, str], int], key: tuple[str, str], number: int) -> None:
    greatest[key] = max(number, greatest.get(key, 0))
