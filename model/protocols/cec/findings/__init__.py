"""The findings about Sebepou and Magoutis, "CEC: Continuous Eventual Checkpointing".

Rule of this file: no finding; a file of this folder holds the findings of a subject.
"""

from model.protocols.cec.findings.figures import FIGURES
from model.protocols.cec.findings.joins import JOINS
from model.protocols.cec.findings.protocol import PROTOCOL_CLAIMS
from model.protocols.cec.findings.streams import STREAMS

FINDINGS = (PROTOCOL_CLAIMS, STREAMS, JOINS, FIGURES)
