"""Labels of groups of annotators, from counts."""

import numpy as np
import pandas as pd

from bayesagree import Labels


def labels_of(counts, names="gh"):
    """Return labels with these counts (group, item, category), and the group of each annotator."""
    rows, members = [], {}
    for g, of_group in enumerate(counts):
        for i, votes in enumerate(of_group):
            for j, k in enumerate(np.repeat(np.arange(len(votes)), votes)):
                rows.append((i, f"{names[g]}{j}", int(k)))
                members[f"{names[g]}{j}"] = names[g]
    return Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels=[0, 1]), members
