"""How good is the model? Metrics that take draws of the truth, hard labels, or no truth at all."""
