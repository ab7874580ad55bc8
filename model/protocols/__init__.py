"""One file a protocol; model.registry finds them."""
