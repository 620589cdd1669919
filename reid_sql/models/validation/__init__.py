"""Compare estimates with counted truth: samples of a whole table, every method, scores of persons."""
