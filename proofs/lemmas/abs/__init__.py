"""ABS: what a snapshot holds, and what a complete epoch means."""
