"""The findings about LOG.io, in the order of its page.

Rule of this file: no finding; a file of this folder holds the findings of a subject.
"""

from model.protocols.log_io.findings.conditions import CONDITIONS
from model.protocols.log_io.findings.external import EXTERNAL
from model.protocols.log_io.findings.figures import FIGURES
from model.protocols.log_io.findings.lineage import LINEAGE
from model.protocols.log_io.findings.log_tables import LOG_TABLES
from model.protocols.log_io.findings.overlapping import OVERLAPPING
from model.protocols.log_io.findings.recovery import RECOVERY
from model.protocols.log_io.findings.replaying import REPLAYING
from model.protocols.log_io.findings.scaling import SCALING
from model.protocols.log_io.findings.writes import WRITES

FINDINGS = (
    RECOVERY,
    OVERLAPPING,
    EXTERNAL,
    WRITES,
    SCALING,
    LINEAGE,
    LOG_TABLES,
    CONDITIONS,
    REPLAYING,
    FIGURES,
)
