"""The prior of `group_dirichlet`."""

from dataclasses import asdict, dataclass

from bayesagree.errors import positive


@dataclass(frozen=True)
class GroupDirichletPrior:
    """Hyperparameters of `group_dirichlet`.

    Attributes
    ----------
    divided
        delta_g ~ Beta(1, divided), the chance of a view of its own: 1 is uniform.
    shape_sd
        log a_k ~ N(-log K, shape_sd^2) for the shapes of the common distribution of K labels, m_i ~ Dirichlet(a).

    Examples
    --------
    >>> GroupDirichletPrior(divided=3).shape_sd
    1.5
    """

    divided: float = 1.0
    shape_sd: float = 1.5

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, name)
