"""Active standby (Hwang et al.): what the secondary discards, and what leaves the primary."""
