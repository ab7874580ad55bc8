"""Experiments of a paper; the modules here have them as EXPERIMENTS."""

NAMES = (
    "su-fig3",
    "su-fig5",
    "su-overhead",
    "su-plan",
)
