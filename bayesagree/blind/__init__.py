"""Which classifier is better when no expert labelled the test set: blind evaluation after Jung and Lease."""
