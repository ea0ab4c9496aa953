"""Exact engine of Phi by quadrature."""
