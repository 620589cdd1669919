"""A model of people: a tree of pairs of columns, latent classes of lists, and overdispersed cells."""
