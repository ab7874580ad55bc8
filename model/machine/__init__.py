"""The machine, as every room asks for it: files, folders, locks, processes.

Rule of this room: nothing of a protocol.  The other modules of the model do not import it.
"""
