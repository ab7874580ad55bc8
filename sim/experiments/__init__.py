"""Experiments of papers, run again: one file a paper."""
