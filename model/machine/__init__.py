"""What every room asks of the machine: files, folders, locks, processes.

Rule of this room: nothing of a protocol.  The other modules of the model do not import it.
"""
