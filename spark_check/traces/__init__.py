"""How the output logs of two runs are compared, on Spark or not: `verify` does it all."""
