r"""Telling names (`password`, `API_KEY`, `--token`) -> patterns for the values given to them.

A name alone proves little, so each pattern also judges the value: code that computes it, types, counts, paths and
stand-ins such as `${TOKEN}` or `<your-token>` are left alone. All but ENV match lower-cased text. As everywhere in the
rules, the last group to close is the secret.
"""

from __future__ import annotations

# What may follow the telling word within a name; `token_count` or `secretary` are no secrets.
_SUFFIX = (
    rb"(?:(?=[a-z0-9_\-.])(?:[_\-.]?(?:key|value|secret|token|string|text|raw|plain|b64|hash|prod|dev|staging|test|live|old|new|confirm"
    rb"|[0-9]{1,3})){1,2}+)?+"
)
# `: str =`, `: &str =`, `: string | null =` between a name and its sign.
_ANNOTATION = rb"(?::[ ]{0,2}&?[a-z.]{2,16}(?:[ ]{0,2}[|][ ]{0,2}[a-z]{2,10})?[ ]{0,4}(?==))?+"
_SIGN = rb"(?:=>|:=|={1,3}|:)[ \t]{0,8}+"
_WORDS = (
    rb"(?:string|str|none|null|nil|true|false|undefined|password|passwd|secret|token|required|optional|text|hidden|bytes"
    rb"|any)"
)
_END = rb"""\\{0,7}["']"""
# Values that stand for a secret kept elsewhere, paths, URLs, masks, and marks of an earlier redaction.
_STAND_IN = (
    rb"""\[redacted:|[$][{(]|[$][a-z_]{1,48}+(?![a-z0-9])|<[^<>"'\\]{1,64}>|\{[{a-z_]|%[(s]|\*{3}|x{4}|\.{3}"""
    rb"""|\.{0,2}/[a-z0-9_.\-]{1,32}+(?:/|[\s"'\\]|\Z)|~/|[a-z]:\\|[a-z]{2,5}:/"""
)
# Code that computes the value (a call, an index, an attribute) or a sign we do not know.
_CODE = rb"[a-z_][a-z0-9_.?]{0,40}+[(\[{]|[a-z_]{1,32}+[.][a-z_]|[=:>!(\[{]"
_BARE = rb"""[^\s"'\\,;&<>|`]"""
# A letter outside ASCII as JSON may write it. Escapes of control characters end a value.
_LETTER = rb"\\{1,4}u(?!00[01])[0-9a-fA-F]{4}"
_BARE_RUN = rb"(?:%b++|%b)++" % (_BARE, _LETTER)

# A quoted value runs to the quote of its own depth: with n backslashes before the opening quote, n + 1 backslashes are
# one escaped character of the value (group 2 holds the n). It never takes half an escape, so JSON stays whole.
_DOUBLE = rb"""((?:[^"\\\s]++|\2\\(?:\2\\|\2["']|[^"\\\s]))++)"""
_SINGLE = rb"""((?:[^"'\\\s]++|\\(?:\\|["']|[^"\\\snrt]))++)"""


def _assignment(words: bytes, sign: bytes, quoted: bytes, bare: bytes) -> bytes:
    """`words` as the end of a name, and a value for it; `quoted` and `bare` are look-aheads that accept one.

    A quote followed by `,` or `}` closes a JSON string rather than opening a value, unless the name was quoted too
    (group 1). A quoted name with a bare value is JSON of another type than string: a mark there would break it.
    """
    accept = rb"%b(?(1)|(?![,}\]:\s]))(?!%b|%b%b)" % (quoted, _STAND_IN, _WORDS, _END)
    name = rb"""(?:%b)%b(?:(\\{0,7})["']\]?+)?+[ \t]{0,8}+%b""" % (words, _SUFFIX, _ANNOTATION)
    in_quotes = rb"""(\\{0,7})(?:"%b%b|'%b%b)""" % (accept, _DOUBLE, accept, _SINGLE)
    unquoted = rb"(?(1)(?!))%b(?!%b|%b|%b(?![a-z0-9]))(%b)" % (bare, _STAND_IN, _CODE, _WORDS, _BARE_RUN)
    return rb"%b%b(?:%b|%b)" % (name, sign, in_quotes, unquoted)


# Letters alone count as a password where the sign touches them and no comma or bracket follows, as it would in code.
PASSWORD = _assignment(
    rb"passw(?:or)?d|passphrase|pwd|_pass",
    rb"(?:%b|(?<=[ \t])is:?[ \t]{1,4}+)" % _SIGN,
    rb"""(?=(?:[^"\\\s]|\\.){4})""",
    rb"""(?:(?=[a-z_=./:(){}\[\]$]{0,40}+(?:[^\x00-/:-~]|[!#%*+0-9?@^~-]|\\{1,4}u))(?=[^\s"',;&]{4})|(?<==)(?=[a-z]{6,}+(?:[\s&;"'\\]|\Z)))""",
)
PASSWORD_LITERALS = (b"passw", b"passphrase", b"pwd", b"_pass")

_NOT_A_COUNT = rb"""(?![0-9.]+[\s,;}\])"'\\])"""
_MIXED = rb"""(?=[^\s"'\\,;&<>|`0-9]{0,40}+[0-9])(?=[^\s"'\\,;&<>|`a-z]{0,40}+[a-z])(?=%b{8})%b""" % (
    _BARE,
    _NOT_A_COUNT,
)
SECRET = _assignment(
    rb"secret|(?:api|access|private|signing|encryption|master|account)[_\-]?key",
    _SIGN,
    rb"""%b(?=[^"\s]{8})""" % _NOT_A_COUNT,
    _MIXED,
)
_QUALIFIERS = (b"api", b"access", b"private", b"signing", b"encryption", b"master", b"account")
SECRET_LITERALS = (b"secret", *(word + sign + b"key" for word in _QUALIFIERS for sign in (b"_", b"-", b"")))
TOKEN = _assignment(
    rb"token|credentials?",
    _SIGN,
    rb"""%b(?=[^"\s]{20}|[^"\s]{0,19}[0-9])(?=[^"\s]{8})""" % _NOT_A_COUNT,
    _MIXED,
)
TOKEN_LITERALS = (b"token", b"credential")

# Shell and `.env` lines: an upper-case name says so clearly that a value of letters alone counts too.
_ENV_NOT = (
    rb"""(?!\[redacted:|[$<{(*`]|[./~]|[Xx]{4}|[a-z_]+[,)]|[A-Za-z_][A-Za-z0-9_.]{0,40}+[(\[]|[A-Za-z_]{1,32}+[.][A-Za-z]"""
    rb"""|[a-z]{2,5}:/|(?i:%b)\b|[0-9.]+(?:[\s"'\\,;}\])]|\Z))"""
) % _WORDS
_ENV_RUN = rb"""[^\s"'\\;&|<>`]"""
ENV = (
    rb"(?:(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|SECRET_KEY|TOKEN|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS)[0-9]{0,2}"
    rb"""(?:=|:[ ]{1,4})|PASS=)\\{0,7}["']?%b(%b{4,}+)"""
    rb"""|_KEY=\\{0,7}["']?%b((?=[^\s"'\\;&|<>`0-9]{0,40}+[0-9])(?=[^\s"'\\;&|<>`A-Za-z]{0,40}+[A-Za-z])%b{12,}+)"""
) % (_ENV_NOT, _ENV_RUN, _ENV_NOT, _ENV_RUN)
ENV_LITERALS = (b"PASS", b"PWD", b"SECRET", b"TOKEN", b"_KEY", b"CREDENTIALS")

# `--db-password x` and `<db-password>x<`. The whole name is taken first and its end checked after: one step per name,
# whatever it is.
_ENDS = rb"|".join(
    rb"(?<=%b)" % end
    for end in (
        b"password", b"passwd", b"passphrase", b"-pass", b"token", b"secret", b"api-key", b"apikey", b"api_key",
        b"access-key", b"accesskey", b"secret-key", b"secretkey", b"private-key",
    )
)  # fmt: skip
FLAG = (
    rb"--(?<![a-z0-9\-]--)[a-z0-9\-_]{3,40}+(?:%b)(?:=|[ \t]{1,4})"
    rb"""\\{0,7}["']?(?!%b|-)((?:(?<==)|(?=[a-z_=./:(){}\[\]$-]{0,40}+[!#%%*+0-9?@^~]))%b{4,}+)"""
) % (_ENDS, _STAND_IN, _BARE)
FLAG_LITERALS = (
    b"passw",
    b"passphrase",
    b"-pass",
    b"token",
    b"secret",
    b"apikey",
    b"api-key",
    b"api_key",
    b"-key",
    b"accesskey",
)
ELEMENT = rb"""<[a-z0-9:_.\-]{3,48}+(?:%b)>(?!%b|%b<|[0-9.]+<)([^<>"'\\\s]{4,}+)(?=<|\Z)""" % (_ENDS, _STAND_IN, _WORDS)
ELEMENT_LITERALS = tuple(
    b"%b>" % end for end in (b"password", b"passwd", b"phrase", b"-pass", b"token", b"secret", b"key")
)
