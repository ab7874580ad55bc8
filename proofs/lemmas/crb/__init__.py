"""Checkpoint roll-backward (Sebepou and Magoutis): what is stored, replayed and acknowledged."""
