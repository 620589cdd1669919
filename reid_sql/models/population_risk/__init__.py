"""How many people of a population are unique: shares with 95 % intervals, by the model of people."""
