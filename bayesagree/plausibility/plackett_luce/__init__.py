"""Plackett-Luce posterior."""
