"""The relational reductions: everything that an engine counts, and all that a model ever sees of a table.

One room for each family: `__init__` declares, and a file named after an engine says it. Nothing lists the
rooms.
"""
