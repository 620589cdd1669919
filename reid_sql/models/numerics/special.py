"""The special functions of scipy, imported when the first is called: that takes a tenth of a second.

Most functions of a table never call one.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

Special = Callable[..., Any]


@cache
def _found(name: str) -> Special:
    from scipy import special  # noqa: PLC0415 - the words above

    return getattr(special, name)  # type: ignore[no-any-return]


def _later(name: str) -> Special:
    """The function of this name, found at its first call.

    >>> round(float(_later("expit")(0.0)), 3)
    0.5
    """

    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - what the function takes and gives
        return _found(name)(*given, **named)

    call.__name__ = name
    return call


betainc: Final = _later("betainc")
betaincc: Final = _later("betaincc")
betaincinv: Final = _later("betaincinv")
digamma: Final = _later("digamma")
expit: Final = _later("expit")
gammainc: Final = _later("gammainc")
gammaln: Final = _later("gammaln")
log_expit: Final = _later("log_expit")
logit: Final = _later("logit")
ndtr: Final = _later("ndtr")
ndtri: Final = _later("ndtri")
psi: Final = _later("psi")
xlogy: Final = _later("xlogy")
zeta: Final = _later("zeta")
