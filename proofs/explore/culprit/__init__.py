"""The culprit of a run that violates a property: what happened, by name.

Rule of this package: it explains a run that somebody else has judged; it judges none.
"""
