"""A made-up town to try things on: people.csv, and the generator that made it."""
