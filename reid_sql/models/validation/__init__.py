"""How well the estimates do on tables whose truth is counted."""
