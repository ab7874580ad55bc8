"""How a command ends: its exit code, its last line, and streams that nobody reads any more."""
