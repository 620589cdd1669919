"""The Pitman-Yor forecast of correctness (Rocher, Hendrickx & de Montjoye 2025)."""
