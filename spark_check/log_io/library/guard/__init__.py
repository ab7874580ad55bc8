"""The fence around a log: who may write as an operator, and is all there that was written?

Rule of this folder: LOG.io itself, its tables and algorithms, is outside; nothing here decides the
steps of an operator.
"""
