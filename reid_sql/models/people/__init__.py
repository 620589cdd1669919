"""A model of people: a tree of pairs of columns, records as donors, and a gamma residual whose shape sub-tables tell."""
