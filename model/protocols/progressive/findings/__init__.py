"""The findings about Su and Zhou, "Progressive Recovery of Correlated Failures".

Rule of this file: no finding; a file of this folder holds the findings of a subject.
"""

from model.protocols.progressive.findings.evaluation import EVALUATION
from model.protocols.progressive.findings.plan import PLAN
from model.protocols.progressive.findings.recovery import RECOVERY

FINDINGS = (RECOVERY, PLAN, EVALUATION)
