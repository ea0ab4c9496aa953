from .next_items import value_of_votes

__all__ = ["value_of_votes"]
