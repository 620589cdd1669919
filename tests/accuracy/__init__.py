"""The accuracy of the forecasts against data whose truth is known; `python -m tests.accuracy` from the top of the repository."""
