"""The accuracy of the forecasts against data whose truth is known.

`python -m benchmarks.accuracy` from the top of the repository.
"""
