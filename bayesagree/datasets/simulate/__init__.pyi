from ._annotations import crowd_labels, rankings, ratings
from ._test_sets import crowdsourced_binary, labelled_test_set, noisy_models, simulated_systems

__all__ = [
    "crowd_labels",
    "crowdsourced_binary",
    "labelled_test_set",
    "noisy_models",
    "rankings",
    "ratings",
    "simulated_systems",
]
