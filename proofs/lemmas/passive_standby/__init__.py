"""Passive standby (Hwang et al.): the contents of a checkpoint."""
