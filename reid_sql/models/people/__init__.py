"""A model of people: a tree of pairs of columns, records as donors, and a gamma residual.

Sub-tables tell the shape of the residual.
"""
