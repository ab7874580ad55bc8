"""Results: the frozen values that commands find, that reports read, and that `--json` writes.

Rule of this package: values alone, a file a noun; nothing here is computed but sums and counts of
the value's own parts.  `plain` turns each of them into JSON; docs/reference/json.md has the keys.
"""
