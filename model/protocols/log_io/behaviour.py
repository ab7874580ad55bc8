"""What LOG.io does: the functions that a patched form has from a copy of its modules.

Rule of this file: names.
"""

from model.outages import OutageTerms, Since
from model.protocol import Behaviour, EndNeeds, SinkNeed, SourceNeed
from model.protocols.log_io.deployment import deploy
from model.protocols.log_io.display import show, size, states
from model.protocols.log_io.measures import gauges, memory
from model.protocols.log_io.nodes import boot, recover, step
from model.protocols.log_io.quantities import QUANTITIES

BEHAVIOUR = Behaviour(
    deploy,
    boot,
    step,
    recover,
    gauges=gauges,
    show=show,
    size=size,
    states=states,
    memory=memory,
    quantities=QUANTITIES,
    outage=OutageTerms(restart=True, read=True, again=Since.NOTHING),
    ends=lambda _design: EndNeeds(SourceNeed.SEEKS, SinkNeed.REMEMBERS),
)
