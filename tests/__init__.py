"""Properties first; tests/strategies.py is for users too."""
