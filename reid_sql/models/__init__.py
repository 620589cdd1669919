"""What re-identification risk is, as arrays in and numbers out; nothing here knows an engine."""
