"""The commands of `reid-sql`, one file each: what it is for, its options, and what it does."""
