"""Benchmarks for `make bench`; nothing here is a test, and no test measures time."""
