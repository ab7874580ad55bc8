"""Experiments of a paper; the modules here have them as EXPERIMENTS."""

NAMES = (
    "hwang-fig6",
    "hwang-fig7",
    "hwang-table6",
    "hwang-table7",
    "hwang-table8",
)
