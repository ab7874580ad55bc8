"""What a person reads: correctness reports, plots, space-time diagrams."""
