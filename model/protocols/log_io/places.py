"""The names of LOG.io's sites.

Rule of this file: names.
"""

LOG, SERVICE = "log", "service"
CONTROLLER, ENGINE = "controller", "engine"
DISPATCHER, STAYS, LEAVES, MERGER = "dispatch", "one", "two", "merge"
SECOND = "b"
"""The type of the events that a dispatcher sends to its second replica."""
AHEAD = ">"
"""A connection is called SENDER>RECEIVER."""
