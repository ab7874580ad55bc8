"""LOG.io: the events that a port accepts and a restart owes, the rows of a generation, and
lineage."""
