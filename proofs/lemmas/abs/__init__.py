"""ABS: the contents of a snapshot, the meaning of a complete epoch, the coordinator's memory."""
