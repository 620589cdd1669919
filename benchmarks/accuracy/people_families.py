"""Families of tables: which of them constants were chosen on, and which are for figures alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.accuracy.people_cases import Case


@dataclass(frozen=True)
class Family:
    """Tables and generators of one kind: those for choosing constants, and those held out from it."""

    chosen_on: tuple[str, ...]
    held_out: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.chosen_on + self.held_out

    def names_of(self, role: str) -> tuple[str, ...]:
        """Those of a role: chosen_on, held_out or both."""
        return self.names if role == "both" else tuple(getattr(self, role))

    def choose(self, cases: Sequence[Case]) -> list[Case]:
        """The cases that constants may be chosen on."""
        return [case for case in cases if case.name in self.chosen_on]

    def hold_out(self, cases: Sequence[Case]) -> list[Case]:
        """The cases that are for figures alone."""
        return [case for case in cases if case.name in self.held_out]


# Name of the survey: its file, and the columns that number its persons.
SURVEYS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    **{
        name: (f"Ecdat/{name}.csv", ())
        for name in (
            *("HI", "BudgetFood", "Benefits", "CPSch3", "DoctorAUS", "Star", "Tobacco"),
            *("VietNamI", "MedExp", "OFP", "RetSchool", "Hdma", "Workinghours"),
        )
    },
    "SLID": ("car/SLID.csv", ()),
    "rwm1984": ("COUNT/rwm1984.csv", ()),
    "bfi": ("psych/bfi.csv", ()),
    "Vocab": ("car/Vocab.csv", ()),
    "Chile": ("car/Chile.csv", ()),
    "flchain": ("survival/flchain.csv", ()),
    "Aids2": ("MASS/Aids2.csv", ()),
    "DoctorContacts": ("Ecdat/DoctorContacts.csv", ()),
    "rwm5yr": ("COUNT/rwm5yr.csv", ("id", "year")),
    **{
        name: (f"Ecdat/{name}.csv", ())
        for name in (
            *(
                "BudgetItaly",
                "BudgetUK",
                "Schooling",
                "Treatment",
                "UnempDur",
                "VietNamH",
                "Wages1",
            ),
            "Kakadu",
        )
    },
    **{name: (f"COUNT/{name}.csv", ()) for name in ("azcabgptca", "azpro", "azdrg112")},
    **{name: (f"Zelig/{name}.csv", ()) for name in ("immigration", "turnout", "voteincome")},
    "PSID": ("Ecdat/PSID.csv", ("intnum", "persnum")),
    "pneumon": ("KMsurv/pneumon.csv", ()),
    "nlschools": ("MASS/nlschools.csv", ()),
    "politicalInformation": ("pscl/politicalInformation.csv", ("id",)),
    "ability": ("psych/ability.csv", ()),
    "CNES": ("sem/CNES.csv", ()),
    "nwtco": ("survival/nwtco.csv", ("seqno",)),
    "mfblong": ("gap/mfblong.csv", ("familyid",)),
}

FAMILIES: Final = {
    "people": Family(
        (
            *(
                "adult",
                "census_income_kdd",
                "cps_tax_units",
                "hdv2003",
                "brfss2020_heart",
                "covid19_mx",
            ),
            *("HI", "BudgetFood", "Benefits", "CPSch3", "DoctorAUS", "Star", "SLID", "Tobacco"),
            *("rwm1984", "bfi"),
        ),
        (
            *("VietNamI", "Vocab", "MedExp", "OFP", "flchain", "RetSchool", "Hdma", "Workinghours"),
            *("Aids2", "Chile"),
        ),
    ),
    "people asked once": Family(
        (),
        (
            *(
                "BudgetItaly",
                "BudgetUK",
                "Schooling",
                "Treatment",
                "UnempDur",
                "VietNamH",
                "Wages1",
                "Kakadu",
            ),
            *(
                "azcabgptca",
                "azpro",
                "azdrg112",
                "immigration",
                "turnout",
                "voteincome",
                "PSID",
                "pneumon",
            ),
            *("nlschools", "politicalInformation", "ability", "CNES", "nwtco", "mfblong"),
        ),
    ),
    "postcodes": Family(
        (
            *(
                "addresses",
                "districts",
                "electoral_roll",
                "grid_cells",
                "surnames_by_region",
                "admissions",
            ),
            "birthdays",
        ),
        ("births", "birth_sex_place", "names", "positions"),
    ),
    "lists": Family(
        ("baskets", "multiple_answers", "conditions"),
        ("subscriptions", "prescriptions", "symptoms", "baskets_groceries", "baskets_epub"),
    ),
    "panels": Family(("twice", "repeated"), ("panel", "DoctorContacts", "rwm5yr")),
    "other laws": Family(
        (
            *(
                "zipf_mixture",
                "shared_homes",
                "followed",
                "few_categories",
                "measurements",
                "mostly_missing",
            ),
            *("independent", "functional", "clusters", "heavy_tailed", "amounts", "latent_normal"),
        ),
        (
            *("families", "visits", "careers", "dependent", "moments", "households", "two_columns"),
            *("rule_bound", "near_identifier", "couples", "commuters", "laboratory", "opinions"),
            "marks_at_school",
        ),
    ),
    "heaps": Family(
        ("no_income", "ages_at_tens", "income_and_debt"),
        ("top_coded", "new_years_days", "rounded_wages"),
    ),
    "identical rows": Family(
        ("straight_liners", "items_of_a_trait"), ("blank_rows", "middle_answers")
    ),
    "keys": Family(
        ("house_numbers", "members", "tickets"), ("cases_of_courts", "beds", "numbers_of_offices")
    ),
    "foreign": Family((), ("browser_user_agents", "fingerprints", "whole_households")),
}
