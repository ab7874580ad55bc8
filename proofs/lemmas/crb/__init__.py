"""Checkpoint roll-backward (Sebepou and Magoutis): the tuples that are stored, replayed and
acknowledged."""
