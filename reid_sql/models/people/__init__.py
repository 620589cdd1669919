"""A model of people: a tree of pairs of columns, records as donors, and overdispersed cells."""
