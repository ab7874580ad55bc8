"""Active standby (Hwang et al.): the outputs that the secondary discards, and those that leave the
primary."""
