from .quality import crowdtruth
from .resampling import crowdtruth_posterior, spammers

__all__ = ["crowdtruth", "crowdtruth_posterior", "spammers"]
