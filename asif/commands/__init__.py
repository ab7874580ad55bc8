"""One file a command.  Heavy imports stand in the function, so that `asif --help` needs none."""
