"""asif: does a stream behave as if nothing had failed?

Rule of this file: no import, so that `import asif` costs next to nothing.  A protocol's file
imports from asif.protocol; the command line is asif.cli.
"""
