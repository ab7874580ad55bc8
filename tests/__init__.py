"""Properties first; their strategies are in proofs/explore/strategies.py."""
