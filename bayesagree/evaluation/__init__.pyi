from .humans import human_baseline

__all__ = ["human_baseline"]
