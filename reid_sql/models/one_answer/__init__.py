"""The one answer for a population: shares of people, with intervals that hold, by the model of people."""
