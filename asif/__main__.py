"""`python -m asif`: the command line without an installed script."""

from asif.cli import main

main()
