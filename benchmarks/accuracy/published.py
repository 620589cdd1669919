"""What Rocher, Hendrickx & de Montjoye print, 2019 on Adult, 2025 for exact matching; our targets."""

from typing import Final

FRACTIONS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
METHODS: Final = ("pyc", "ent", "exp", "pol")

# Table 1, rows "Exact": RMSE of κ at the full size, extrapolated from a fraction of it.
TABLE_1: Final[dict[float, dict[str, float]]] = {
    0.001: {"pyc": 0.290, "ent": 0.370, "exp": 0.315, "pol": 0.484},
    0.005: {"pyc": 0.153, "ent": 0.364, "exp": 0.287, "pol": 0.355},
    0.01: {"pyc": 0.122, "ent": 0.357, "exp": 0.262, "pol": 0.330},
    0.05: {"pyc": 0.067, "ent": 0.310, "exp": 0.192, "pol": 0.179},
    0.1: {"pyc": 0.051, "ent": 0.276, "exp": 0.155, "pol": 0.146},
    1.0: {"pyc": 0.013, "ent": 0.128, "exp": 0.037, "pol": 0.028},
}
# same rows
RND: Final = {0.001: 0.347, 0.005: 0.305, 0.01: 0.282, 0.05: 0.230, 0.1: 0.214, 1.0: 0.213}
DATASETS: Final = {0.001: 216, 0.005: 290, 0.01: 316, 0.05: 351, 0.1: 365, 1.0: 400}  # column C
BOUNDS: Final = (0.01, 0.99)  # only datasets whose κ lies between

MAP_RMSE: Final = 0.017
MAP_BIAS: Final = 0.013
TENTH_RMSE: Final = TABLE_1[0.1]["pyc"]
COVERED: Final = 0.90  # of intervals that say 95 %

# 2019: mean absolute error ± s.d. of Ξ on Adult by fraction; table 1, and supplementary table 2.
PAPER_MAE: Final = {
    1.0: "0.018 ± 0.016",
    0.1: "0.022 ± 0.020",
    0.05: "0.027 ± 0.023",
    0.01: "0.027 ± 0.014",
    0.005: "0.048 ± 0.039",
}
PAPER_GIVEN: Final = {
    1.0: "0.018 ± 0.016",
    0.1: "0.020 ± 0.018",
    0.05: "0.020 ± 0.018",
    0.01: "0.021 ± 0.017",
    0.005: "0.023 ± 0.016",
}
