"""Experiments of a paper; the modules here have them as EXPERIMENTS."""

NAMES = ("lima-fig9",)
