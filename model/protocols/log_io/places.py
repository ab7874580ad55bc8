"""The names of LOG.io's own sites.

Rule of this file: names; no node of a graph has one here.
"""

LOG, SERVICE = "log", "service"
CONTROLLER, ENGINE = "controller", "engine"
AHEAD = ">"
"""A connection is called SENDER>RECEIVER."""
