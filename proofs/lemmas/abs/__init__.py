"""ABS: what a snapshot holds, what a complete epoch means, what the coordinator keeps."""
