"""Upstream backup run by Spark: source, sink, the job, and the stories of its crashes."""
