"""The law of one column: shares of its values, seen and unseen, ordered or by name, and their scale."""
