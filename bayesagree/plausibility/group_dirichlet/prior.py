"""Priors of the parameters that all items share in `group_dirichlet`."""

from dataclasses import asdict, dataclass

from bayesagree.errors import positive


@dataclass(frozen=True)
class GroupDirichletPrior:
    """Hyperparameters of similarity, divided items, the shapes of the common distribution, and care.

    Attributes
    ----------
    similarity, similarity_sd
        log s_g ~ N(log similarity, similarity_sd^2), s_g in votes: by default 95 % between 2 and 5,000. Without a prior
        groups that see everything alike would take s_g to infinity, where the likelihood is flat.
    leaning
        r_g ~ Beta(1, leaning), the share of a group's views that favours some labels whatever the item, b_g ~
        Dirichlet(1, ..., 1) (graded form). Without predictions the group of most votes does not lean.
    divided
        delta_g ~ Beta(1, divided): 1 is uniform.
    shape_sd
        log a_k ~ N(-log K, shape_sd^2) for the shapes of the common distribution of K labels, a ~ Dirichlet(a).
    careful, careless
        theta_j ~ Beta(u, v) is the share of careful votes of annotator j, log u ~ N(log careful, 1), log v ~ N(log
        careless, 1); the careless ones follow a habit ~ Dirichlet(1, ..., 1) of the annotator, whatever the item.
    worth
        With predictions log c ~ N(log worth, shape_sd^2) for the votes c that they are worth: by default 95 % between a
        half and 190. Around 1 the scores of good models come out too low, as few votes do not outweigh it.

    Examples
    --------
    >>> GroupDirichletPrior(similarity=30).similarity_sd
    2.0
    """

    similarity: float = 100.0
    similarity_sd: float = 2.0
    leaning: float = 30.0
    divided: float = 1.0
    shape_sd: float = 1.5
    careful: float = 4.0
    careless: float = 0.5
    worth: float = 10.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, name)
