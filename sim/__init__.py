"""The costs of a protocol, and its output on real input: drivers over whole streams."""
