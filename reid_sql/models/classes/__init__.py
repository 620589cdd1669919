"""What is said of equivalence classes by counting them."""
