"""Fixtures of the agreement of annotators."""

import numpy as np
import pytest


@pytest.fixture
def without_phi(monkeypatch):
    """Tables of ratings without the posterior of Phi, for tests of the other rows."""
    row = dict.fromkeys(("estimate", "lower", "upper"), np.nan) | {"ci_kind": "hdi", "note": "left out"}
    monkeypatch.setattr("bayesagree.agreement.coefficients.phi_row", lambda *_: dict(row))
