"""Passive standby (Hwang et al.): what is in a checkpoint."""
