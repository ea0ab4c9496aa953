from . import calibration, certainty
from .dawid_skene.posterior import DawidSkene
from .dawid_skene.prior import DawidSkenePrior
from .dirichlet.posterior import Dirichlet
from .group_dirichlet.posterior import GroupDirichlet
from .group_dirichlet.prior import GroupDirichletPrior
from .informed.posterior import InformedDirichlet
from .informed.prior import InformedPrior
from .informed_normal.posterior import InformedNormal
from .informed_plackett_luce.posterior import InformedPlackettLuce
from .normal_inverse_gamma.posterior import NormalInverseGamma
from .normal_inverse_gamma.prior import NormalInverseGammaPrior
from .plackett_luce.posterior import PlackettLuce
from .prirn.inverse_ranks import irn
from .prirn.posterior import PrIRN

__all__ = [
    "DawidSkene",
    "DawidSkenePrior",
    "Dirichlet",
    "GroupDirichlet",
    "GroupDirichletPrior",
    "InformedDirichlet",
    "InformedNormal",
    "InformedPlackettLuce",
    "InformedPrior",
    "NormalInverseGamma",
    "NormalInverseGammaPrior",
    "PlackettLuce",
    "PrIRN",
    "calibration",
    "irn",
]
