"""Dawid-Skene models."""
