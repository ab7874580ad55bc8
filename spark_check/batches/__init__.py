"""Spark's own recovery: a job in micro-batches, its checkpoint, its crashes and what it costs."""
