"""How good is a model, when the people who labelled its test set do not agree: this package answers that."""
