from ._annotations import crowd_labels, rankings, ratings
from ._test_sets import labelled_test_set

__all__ = ["crowd_labels", "labelled_test_set", "rankings", "ratings"]
