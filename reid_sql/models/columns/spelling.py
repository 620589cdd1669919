"""One form of texts that are written alike: what does not distinguish two spellings of a value.

The engines write the same form in their own functions; `normal_form` is their reference. Two forms are
needed: "Gehörlos" is also written "Gehorlos", without its marks, and "Gehoerlos", with a letter for them.
"""

import re
import unicodedata
from typing import Final

DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63"
APOSTROPHES: Final = "'`\u00b4\u2018\u2019\u201a\u201b\u02b9\u02bc\u2032\u2035"
QUOTES: Final = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033'
# letters of one sound that Unicode does not write as another with a mark
PLAIN_LETTERS: Final = dict(zip("øđðłħıŧ", "oddlhit", strict=True))
LIGATURES: Final = {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"}
# letters with marks, as they are written without them in a second letter
UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
DOUBLE_LETTERS: Final = tuple(dict.fromkeys(UMLAUTS.values()))
# around a word: "<NA>", "(null)", "k.A.", "[missing]"
MARKS_AROUND_WORDS: Final = " .,:;!*<>()[]{}|=_"
WIDE_LETTERS: Final = "".join(map(chr, range(0xFF01, 0xFF5F)))
NARROW_LETTERS: Final = "".join(map(chr, range(0x21, 0x7F)))
ENDS_OF_WORDS: Final = " \t\r\n\f"
SPACES: Final = r"[\p{Z}\s]+"
INVISIBLE: Final = r"[\p{Cf}\p{Cc}]+"
FINAL_ZEROS: Final = "[.]0+$"  # of a whole number that was once a float


class _LettersBut(dict[int, int | None]):
    """A table of all letters but those of some categories, each found when it is first met."""

    def __init__(self, *categories: str) -> None:
        self.categories = categories

    def __missing__(self, letter: int) -> int | None:
        is_left_out = unicodedata.category(chr(letter)).startswith(self.categories)
        self[letter] = None if is_left_out else letter
        return self[letter]


_VISIBLE: Final = _LettersBut("Cf", "Cc")
_WITHOUT_MARKS: Final = _LettersBut("M")
_NARROWED: Final = str.maketrans(WIDE_LETTERS, NARROW_LETTERS)
_IN_TWO_LETTERS: Final = str.maketrans(UMLAUTS)
_PLAIN: Final = str.maketrans(PLAIN_LETTERS | LIGATURES)
_HYPHENS: Final = dict.fromkeys(map(ord, DASHES), "-")
_WITHOUT_QUOTES: Final = dict.fromkeys(map(ord, APOSTROPHES + QUOTES))


def normal_form(value: str, *, second_letters: bool = False) -> str:
    """Write a text as all of its spellings: capitals, accents, spaces, hyphens, apostrophes do not count.

    With `second_letters`, a letter with a mark is written as two, as where a keyboard lacks it.

    >>> normal_form(" Crohn’s  disease"), normal_form("Hepatitis–B"), normal_form("Hepatitis B")
    ('crohns disease', 'hepatitis b', 'hepatitis b')
    >>> normal_form("Fußpilz"), normal_form("Gehörlos"), normal_form("Gehörlos", second_letters=True)
    ('fusspilz', 'gehorlos', 'gehoerlos')
    """
    if value.isascii() and value.isalnum():
        return value.lower()
    seen = re.sub(r"\s+", " ", value.translate(_NARROWED))
    seen = unicodedata.normalize("NFC", seen).lower().translate(_VISIBLE)
    if second_letters:
        seen = seen.translate(_IN_TWO_LETTERS)
    bare = unicodedata.normalize("NFD", seen.translate(_PLAIN)).translate(_WITHOUT_MARKS)
    bare = unicodedata.normalize("NFC", bare)
    return join_words(bare.translate(_HYPHENS))


def words_of_name(name: str) -> list[str]:
    """Divide the name of a column into its words, in their normal form.

    >>> words_of_name("Prénom usuel"), words_of_name("customerEMail_2")
    (['prenom', 'usuel'], ['customer', 'email', '2'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[^\w]|_", " ", name)
    return [normal_form(word) for word in spaced.split()]


def join_words(text: str) -> str:
    """Leave out quotes and apostrophes; in a text that begins with a letter, write spaces for hyphens."""
    text = text.strip(ENDS_OF_WORDS).translate(_WITHOUT_QUOTES)
    if text[:1] >= "a":
        text = text.replace("-", " ").replace("_", " ")
    return re.sub(" +", " ", text).strip(ENDS_OF_WORDS)


def word_form(value: str) -> str:
    """Write a text as the words of missing_values.toml are compared: without the marks around it.

    >>> word_form("<NA>"), word_form("k.A."), word_form("#REF!"), word_form("?")
    ('na', 'k.a', '#ref', '?')
    """
    return normal_form(value).strip(MARKS_AROUND_WORDS)
