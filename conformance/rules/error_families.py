"""What an error's type and code stand for, across the names that servers of these formats use."""

from __future__ import annotations

import re
from enum import StrEnum

from conformance.protocols.view import Error


class Family(StrEnum):
    """Kinds of errors that a status stands for."""

    INVALID = "invalid request"  # 400
    AUTHENTICATION = "authentication"  # 401
    LIMIT = "rate limit or quota"  # 429
    OVERLOAD = "overload"  # 429, 503 or 529
    POLICY = "content policy"  # 400, and nothing is wrong with the request's form
    PERMISSION = "permission"  # no documented status
    SERVER = "server error"  # 500


# The first pattern that a name matches decides: invalid_api_key is about the key.
_NAMES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    (
        Family.AUTHENTICATION,
        re.compile(
            r"authentication|unauthorized|unauthorised|unauthenticated|api_?key|credentials?\b|invalid_token|"
            r"token_(?:expired|invalid)|expired_token|(?:^|_)auth(?:_|$)"
        ),
    ),
    (
        Family.LIMIT,
        re.compile(
            r"rate_?limit|too_many_requests|throttl|quota|billing|balance|insufficient_funds|payment_required|arrear|"
            r"(?:^|_)credits?(?:_|$)|(?:usage|spend|hard|rpm|tpm|concurrency|requests?)_limit"
        ),
    ),
    (Family.OVERLOAD, re.compile(r"overload|capacity|too_busy")),
    (Family.PERMISSION, re.compile(r"permission|forbidden|access_(?:denied|terminated)")),
    (Family.POLICY, re.compile(r"content_(?:filter|policy)|moderation|safety|sensitive|policy_violation")),
    (
        Family.SERVER,
        re.compile(r"internal|server_error|^api_error$|unavailable|time_?out|upstream|bad_gateway|^gateway"),
    ),
    (
        Family.INVALID,
        re.compile(
            r"invalid|bad_request|validation|unsupported|not_supported|context|not_found|malformed|param|"
            r"unprocessable|missing|unknown|too_(?:long|large|short)|out_of_range|(?:above|below)_m|value_error|"
            r"too_many_tokens"
        ),
    ),
)
_POLICY_WORDS = re.compile(
    r"content (?:policy|policies|management policy|filter|moderation)|"
    r"safety (?:system|filter|policy|policies|guideline)|usage (?:policy|policies)|moderation|high risk|"
    r"sensitive (?:content|words?|information|topic)|违规|敏感|审核",
    re.IGNORECASE,
)
_HEAD = 1000  # characters of a message that are searched
_EXACT = {"tokens": Family.LIMIT, "requests": Family.LIMIT}  # the types of OpenAI's 429
_NUMBERS = {"400": Family.INVALID, "401": Family.AUTHENTICATION, "429": Family.LIMIT, "500": Family.SERVER}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 100  # characters; a longer name is no name


def family(name: object) -> Family | None:
    """The family that a type or code names; None for a name that is not known, and for anything but a short string."""
    if not isinstance(name, str) or len(name) > _LONGEST:
        return None
    plain = re.sub(r"[^a-z0-9]+", "_", _HUMP.sub("_", name.strip()).lower()).strip("_")
    if plain in _EXACT:
        return _EXACT[plain]
    return next((found for found, pattern in _NAMES if pattern.search(plain)), None)


def named(error: Error) -> dict[str, Family]:
    """The families that the error's type and code name, by the name; numbers are no names."""
    return {str(name): found for name in (error.type, error.code) if (found := family(name)) is not None}


def speaks_of_policy(error: Error) -> bool:
    """Whether an error says, by name or in words, that the contents of a request were declined, not its form."""
    said = isinstance(error.message, str) and _POLICY_WORDS.search(error.message[:_HEAD])
    return bool(said) or Family.POLICY in families(error)


def families(error: Error) -> set[Family]:
    """The families of type and code, a code that repeats a status included."""
    found = set(named(error).values())
    if isinstance(error.code, (str, int)) and str(error.code)[:4] in _NUMBERS:
        found.add(_NUMBERS[str(error.code)[:4]])
    return found
