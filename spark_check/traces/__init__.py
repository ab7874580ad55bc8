"""The parts of `spark_check.trace`: files, columns, streams, rewinds, differences."""
