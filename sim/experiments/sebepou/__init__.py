"""Experiments of a paper; the modules here have them as EXPERIMENTS."""

NAMES = (
    "cec-fig5",
    "cec-fig6",
    "cec-fig7",
    "cec-fig8",
    "cec-fig9",
    "cec-tradeoff",
    "cec-extent",
)
