"""Programs that write what is generated from the declared functions."""
