"""A family: the parts that all its variants share, and the one way to make a protocol of a design.

Rule of this file: no family; each one is a constant of its own folder or file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.core import Guarantee, OperatorClass, Property, Quantity
from model.errors import Invalid
from model.evidence import Evidence, Mutant, PinnedRun, PinnedScope
from model.properties import AS_IF, COMPLETE
from model.protocol import Assumptions, Behaviour, Failures, Promise, Protocol, Words


@dataclass(frozen=True, slots=True)
class Family:
    """A family of protocols.  What a design changes is an argument of `design`.

    claims: a guarantee for each class of operators, or one for all classes.
    """

    name: str
    title: str
    source: str
    behaviour: Behaviour
    claims: Guarantee | Mapping[OperatorClass, Guarantee] = Guarantee.PRECISE
    properties: tuple[Property, ...] = (AS_IF, COMPLETE)
    assumes: Assumptions = Assumptions(Failures.ANY)
    must_occur: tuple[Quantity, ...] = ()
    protects: bool = True

    def design(
        self,
        variant: str = "",
        design: Any = None,
        scopes: tuple[PinnedScope, ...] = (),
        finding: str = "",
        *,
        behaviour: Behaviour | None = None,
        claims: Guarantee | Mapping[OperatorClass, Guarantee] | None = None,
        properties: tuple[Property, ...] | None = None,
        assumes: Assumptions | None = None,
        must_occur: tuple[Quantity, ...] | None = None,
        mutants: tuple[Mutant, ...] = (),
        lemmas: int = 0,
        compare_with: str = "",
        runs: tuple[PinnedRun, ...] = (),
        variants: tuple[Protocol, ...] = (),
    ) -> Protocol:
        """The protocol of a design; None: as the family has it.

        The claims are made for the classes of operators in the scopes; without streams there are
        none.  variant: empty for the family's own protocol, which has the variants.
        """
        claims = self.claims if claims is None else claims
        classes = sorted({one.operators for one in scopes if one.operators is not None})
        if not isinstance(claims, Guarantee):
            known = ", ".join(one.name for one in claims) or "no class"
            for one in scopes:
                if one.operators is not None and one.operators not in claims:
                    raise Invalid(
                        f"{self.name}: no claim about {one.operators.name} operators, which the "
                        f"scope {one.name!r} has; the claims are about {known}"
                    )
        return Protocol(
            family=self.name,
            variant=variant,
            behaviour=self.behaviour if behaviour is None else behaviour,
            design=design,
            promise=Promise(
                {one: claims if isinstance(claims, Guarantee) else claims[one] for one in classes},
                self.properties if properties is None else properties,
                self.assumes if assumes is None else assumes,
                self.protects,
            ),
            evidence=Evidence(
                scopes,
                self.must_occur if must_occur is None else must_occur,
                mutants,
                lemmas,
                compare_with,
                runs,
            ),
            words=Words(self.title, self.source, finding),
            variants=variants,
        )
