"""The Gaussian copula of a sample (Rocher, Hendrickx & de Montjoye 2019)."""
