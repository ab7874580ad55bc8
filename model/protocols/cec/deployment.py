"""Where the nodes of continuous eventual checkpointing stand, and with which settings.

Rule of this file: no step of a node; it raises Refused for an operator that CEC cannot run.
Sebepou and Magoutis, CEC, 2011, Section II.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.join import Join
from model.boxes.stateless import Union
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import NodeName, Role, Site
from model.errors import refuse
from model.protocols.cec.design import CecDesign
from model.protocols.cec.messages import LoggedBox


class CecConfig(NamedTuple):
    """trims: do consumers acknowledge, so that producers let go?  sources: of the deployment."""

    design: CecDesign
    trims: bool
    sources: tuple[NodeName, ...] = ()


def settle(site: Site) -> Site:
    """The site with its operator as a LoggedBox one."""
    inputs, outputs = len(site.preds), len(site.succs)
    if (outputs > 1 and site.role is Role.SOURCE) or (inputs > 1 and site.role is Role.SINK):
        refuse(
            "cec",
            [
                f"{site.name} has {inputs} inputs and {outputs} outputs; give sources with one "
                "output, and sinks with one input"
            ],
        )
    if site.role is not Role.OPERATOR:
        return site
    spec = site.spec
    if isinstance(spec, Operator):
        spec = CepBox(spec)
    logged = spec if isinstance(spec, LoggedBox) else LoggedBox(spec, checks=True, trims=True)
    if outputs > 1 and logged.reads:
        refuse("cec", [f"{site.name} reads its log for {outputs} outputs; give it one output"])
    box: Any = logged.inner
    waits = not isinstance(box, Box) or type(box).expire is not Box.expire
    if waits and not (isinstance(box, Aggregate | Join) and not box.timeout):
        kind = type(box).__name__
        refuse("cec", [f"{site.name} is a {kind}; give an operator without timeouts"])
    if inputs > 1 and not (logged.ordered or isinstance(box, Join | Union)):
        kind = type(box).__name__
        more = "give a Join, a Union, or an Ordered operator"
        refuse("cec", [f"{site.name} is a {kind} with {inputs} inputs; {more}"])
    return site._replace(spec=logged)
