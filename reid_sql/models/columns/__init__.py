"""Profiles of single columns."""
