"""Labels of groups of annotators, from counts."""

import numpy as np
import pandas as pd

from bayesagree import Labels


def labels_of(counts, names="gh"):
    """Return labels with these counts (group, item, category), and the group of each annotator.

    Annotators of an item take turns at random, so that none of them favours a label.
    """
    rows, members, rng = [], {}, np.random.default_rng(0)
    for g, of_group in enumerate(counts):
        for i, votes in enumerate(of_group):
            given = np.repeat(np.arange(len(votes)), votes)
            for j, k in zip(rng.permutation(given.size), given):
                name = f"{names[g]}{j}"
                rows.append((i, name, int(k)))
                members[name] = names[g]
    return Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels=[0, 1]), members
