"""Upstream backup (Hwang et al.): the tuples that indicators trim, and those that they identify."""
