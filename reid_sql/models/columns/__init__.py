"""What a column looks like: how far it tells records apart, marks for missing values, what it may be."""
