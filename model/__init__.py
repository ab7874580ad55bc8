"""What a protocol *is*: pure values and functions. No clock, no randomness, no I/O."""
