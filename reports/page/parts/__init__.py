"""The parts of the report beside the families: each makes a room of blocks from results."""
