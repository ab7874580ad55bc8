"""What a protocol costs, and what it does with real input: drivers over whole streams."""
