"""LOG.io: what a port accepts and a restart owes, what a generation logs, and lineage."""
