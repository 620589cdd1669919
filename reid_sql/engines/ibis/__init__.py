"""The adapter of Ibis: a table where it lives, in whatever warehouse or database, counted there."""
