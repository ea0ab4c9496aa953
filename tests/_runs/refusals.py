"""Every sentence that refuses, word for word: those of `test_every_refusal.py`, and calls at and beside each limit."""

from test_every_refusal import REFUSED

from _runs.recipe import add

for name, (call, _) in REFUSED.items():
    add(f"refused: {name}", call)()
