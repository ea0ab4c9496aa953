from .model import group_dirichlet_model
from .posterior import GroupDirichlet, group_dirichlet
from .prior import GroupDirichletPrior

__all__ = [
    "GroupDirichlet",
    "GroupDirichletPrior",
    "group_dirichlet",
    "group_dirichlet_model",
]
