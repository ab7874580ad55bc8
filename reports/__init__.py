"""The output for people: correctness reports, plots, space-time diagrams."""
