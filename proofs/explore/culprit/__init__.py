"""The culprit of a run that violates a property: its fault, by name.

Rule of this package: it explains a run that somebody else has judged; it judges none.
"""
