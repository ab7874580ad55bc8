"""Where the nodes of checkpoint roll-backward stand: operators, each with one consumer.

Rule of this file: no step of a node; it raises Refused for a graph that the family cannot run.
Sebepou and Magoutis, CEC, 2011, Section II.A.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.boxes.box import Box
from model.boxes.reorder import Ordered
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import refuse
from model.parts import deploy_graph
from model.protocols.crb.design import CrbDesign


class CrbConfig(NamedTuple):
    """sources: of the deployment."""

    design: CrbDesign
    sources: tuple[NodeName, ...]


def deploy(design: CrbDesign, scope: Scope) -> Deployment:
    """The deployment; raises Refused for nodes with several consumers, and for operators that do
    not take several inputs in one order."""
    deployment = deploy_graph(scope.graph, replies=True)
    refuse("crb", (why for site in deployment.sites for why in _objections(site)))
    sources = tuple(site.name for site in deployment.sites if site.role is Role.SOURCE)
    config = CrbConfig(design, sources)
    return deployment._replace(sites=tuple(_boxed(site, config) for site in deployment.sites))


def _objections(site: Site) -> Iterator[str]:
    """Why the family does not run the site: a queue is trimmed for one consumer, and outputs that
    are made again are the same only if the order of the inputs is."""
    inputs, outputs, kind = len(site.preds), len(site.succs), type(site.spec).__name__
    if outputs > 1:
        yield f"{site.name} has {outputs} outputs; give it one consumer"
    if site.role is Role.SINK and inputs > 1:
        yield f"{site.name} has {inputs} inputs; give the sink one, such as a union"
    if site.role is not Role.OPERATOR:
        return
    if not isinstance(site.spec, Box | Operator):
        yield f"{site.name} is a {kind}; give a box or a CEP operator"
    elif inputs > 1 and not isinstance(site.spec, Ordered):
        yield (
            f"{site.name} is a {kind} with {inputs} inputs, in any order; give an Ordered box, "
            "which takes them in the order of time"
        )


def _boxed(site: Site, config: CrbConfig) -> Site:
    """The site with its operator as a box."""
    spec = CepBox(site.spec) if isinstance(site.spec, Operator) else site.spec
    return site._replace(spec=spec, config=config)
