"""One-line faults in the modules that oracle and protocols share, and the tests that find them."""
