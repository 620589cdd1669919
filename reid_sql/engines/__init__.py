"""How each engine says the reductions and binds a function of a kind."""
