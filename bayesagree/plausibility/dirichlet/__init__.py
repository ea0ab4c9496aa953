"""Dirichlet posteriors."""
