"""What things cost.  Run with `make bench`; nothing here is a test, and no test measures time."""
