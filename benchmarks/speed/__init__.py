"""The benchmark: ratios within one run, never a time.

`python -m benchmarks.speed` from the top of the repository.
"""
