"""Distinct items and their multiplicity: data larger than memory."""
