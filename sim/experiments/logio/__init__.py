"""LOG.io and asynchronous barrier snapshotting, as the LOG.io paper timed them (Section 9)."""
