"""`python -m asif`: the command line without an installed script."""

from asif import main

main()
