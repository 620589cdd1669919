"""Published tables: which cells are unsafe, what hides them, and what an attacker computes of hidden ones."""
