"""Why a protocol holds, or does not: every world, random walks, mutants, proofs."""
