"""Upstream backup (Hwang et al.): what is trimmed by indicators, and what they identify."""
