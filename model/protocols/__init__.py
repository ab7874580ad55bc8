"""One folder a family of protocols; model.registry finds them."""
