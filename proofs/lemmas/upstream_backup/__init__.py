"""Upstream backup with savepoints (Lima et al.): one file for each piece of the protocol."""
