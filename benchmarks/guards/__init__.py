"""Whether a guard of SQL keeps groups of few people hidden, from sequences of plain statements."""
