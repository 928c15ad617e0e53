"""Raw payload bytes -> whether any redaction rule could match them.

The hook asks this about every payload before it writes, and most payloads hold no secret. Answering takes substring
search only: the regular-expression engine costs as much to import as the interpreter to start, so this module imports
nothing at all. It may say yes for nothing; it must never say no where `redact` would change a byte.

It does not find or remove anything: see `redact`.
"""

# Searched as written. Each one is rare outside the secrets that carry it.
EXACT = (
    b"AKIA", b"ASIA", b"AIza", b"ya29.", b"1//0", b"Q~", b"ATBB", b"ATATT3", b"ATCTT3", b"pypi-AgE", b"sk-ant-", b"xox",
    b"xapp-", b":AA", b"k_live_", b"k_test_", b"sq0", b"access_token$", b"SG.", b"sntry", b"lin_api_", b"dp.pt.", b"dp.st.",
    b"hvs.", b"hvb.", b".atlasv1.", b"AGE-SECRET-KEY-1", b"Private-Lines:", b"eyJ", b"PRIVATE KEY", b"BAAKC",
    b"BADANBgkqhkiG9w0", b"b3BlbnNzaC1rZXkt", b"MHcCAQEE", b"MC4CAQAwBQYDK2Vw", b"tskey-", b"_KEY=", b"PASS=",
)  # fmt: skip

# The same, but all ending in one sign. Cutting the data at that sign and comparing the last three bytes of the pieces
# takes a tenth of the time of so many searches; only when a piece ends like one of them are they searched for.
TAILED = (
    (
        b"_",
        (
            b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"dckr_pat_", b"shpat_", b"shpss_", b"shpca_",
            b"shppa_", b"lsv2_", b"whsec_", b"dop_v1_", b"doo_v1_", b"dor_v1_", b"nfp_", b"glsa_", b"npm_", b"gsk_", b"ntn_",
        ),
        frozenset((
            b"ghp", b"gho", b"ghu", b"ghs", b"ghr", b"pat", b"pss", b"pca", b"ppa", b"sv2", b"sec", b"v1", b"nfp", b"lsa",
            b"npm", b"gsk", b"ntn",
        )),
    ),
    (
        b"-",
        (
            b"glpat-", b"glptt-", b"gldt-", b"glrt-", b"GOCSPX-", b"HRKU-", b"NRAK-", b"NRII-", b"PMAK-", b"pplx-", b"xai-",
        ),
        frozenset((b"pat", b"ptt", b"ldt", b"lrt", b"SPX", b"RKU", b"RAK", b"RII", b"MAK", b"plx", b"xai")),
    ),
)  # fmt: skip

# Base64 of the most telling prefixes, at the three places a prefix can fall within a group of three bytes.
WRAPPED = (
    b"Z2hwX", b"docF8", b"docF9", b"naHBf", b"Z2l0aHViX3BhdF", b"dpdGh1Yl9wYXRf", b"naXRodWJfcGF0X", b"c2stYW50L",
    b"NrLWFudC", b"zay1hbnQt", b"QUtJQ", b"BS0lB", b"LS0tLS1CRUdJTi", b"0tLS0tQkVHSU4g", b"tLS0tLUJFR0lOI", b"eG94Yi",
    b"hveGIt", b"4b3hiL", b"Z2xwYXQt", b"dscGF0L", b"nbHBhdC",
)  # fmt: skip

# Searched without regard to case.
FOLDED = (
    b"<private", b"hooks.slack.com", b"discord", b"twilio", b"sig=", b"bearer ", b"client-key-data", b'"auth"',
    b'"auth\\', b"sshpass", b":5432:", b":*:",
)  # fmt: skip

# Both must be there, in any order: each alone is everyday text.
PAIRS = ((b"curl", b" -u"), (b"curl", b"-user"), (b"mysql", b" -p"), (b"machine", b"password"))

DIGITS = b"0123456789"
HEX = DIGITS + b"abcdefABCDEF"
ALNUM = DIGITS + b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# Short prefixes: suspicious only when so many bytes of this kind follow and, if the last column says so, when the prefix
# starts a word.
PROBES = (
    (b"sk-", 20, ALNUM + b"_-", True),
    (b"key-", 32, HEX, True),
    (b"dapi", 32, HEX, True),
    (b"hf_", 30, ALNUM, True),
    (b"r8_", 30, ALNUM, True),
    (b"secret_", 43, ALNUM, True),
    (b"-us", 1, DIGITS, False),
)

# Everyday words, suspicious only when something is assigned to them. `key` counts with one of the qualifiers before it.
PASSWORD_WORDS = (b"passw", b"passphrase", b"pwd", b"_pass", b"_auth", b"authorization", b"cookie")
SECRET_WORDS = (
    b"secret", b"token", b"credential", b"key", b"heroku", b"vercel", b"cloudflare", b"datadog", b"dd_app",
    b"dd-app",
)  # fmt: skip
KEY_QUALIFIERS = (b"api", b"access", b"private", b"signing", b"encryption", b"master", b"account")


def suspicious(data: bytes) -> bool:
    """Whether `redact` has to look at these bytes."""
    if _holds(data, EXACT) or _holds(data, WRAPPED):
        return True
    for sign, literals, tails in TAILED:
        if _ends_like(data, sign, tails) and _holds(data, literals):
            return True
    for literal, count, allowed, starts_word in PROBES:
        if _followed(data, literal, count, allowed, starts_word):
            return True
    folded = data.lower()
    return _holds(folded, FOLDED) or _tells(folded) or _escaped(folded) or _user_info(folded)


def _holds(data: bytes, literals: tuple[bytes, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 - the generator of any() takes as long as the searches in a small payload
        if literal in data:
            return True
    return False


def _tells(folded: bytes) -> bool:
    """Whether everyday words stand together, or have values, as they do with secrets."""
    for one, other in PAIRS:
        if one in folded and other in folded:
            return True
    for word in PASSWORD_WORDS:
        if _assigned(folded, word, False):
            return True
    return any(_assigned(folded, word, True) for word in SECRET_WORDS)


def _most_looks(data: bytes) -> int:
    """How many hits are worth a look by hand. Beyond that the full engine answers: there the loop runs in C."""
    return 64 + len(data) // 512


def _ends_like(data: bytes, sign: bytes, tails: frozenset[bytes]) -> bool:
    """Whether something before such a sign ends in one of the tails; yes too where signs are too many to cut at."""
    if data.count(sign) * 8 > len(data):
        return True
    return not tails.isdisjoint([piece[-3:] for piece in data.split(sign)])


def _followed(data: bytes, literal: bytes, count: int, allowed: bytes, starts_word: bool) -> bool:
    """Whether `count` allowed bytes come after the literal somewhere."""
    at = data.find(literal)
    looks = _most_looks(data)
    while at >= 0:
        looks -= 1
        if not looks:
            return True
        end = at + len(literal)
        run = data[end : end + count]
        if len(run) == count and not run.strip(allowed) and (not starts_word or _at_edge(data, at)):
            return True
        at = data.find(literal, end)
    return False


def _at_edge(data: bytes, at: int) -> bool:
    """Whether a word may start here: after `\\n` or `\\u201c` the letter before belongs to the escape, not to a word."""
    before = data[max(at - 6, 0) : at]
    return not before[-1:].isalnum() or before[-2:-1] == b"\\" or before[:2] == b"\\u"


def _assigned(folded: bytes, word: bytes, may_be_count: bool) -> bool:
    """Whether the word, as a name or the end of one, is given a value: `token: x`, `"api_key" => 'x'`, `--password x`."""
    at = folded.find(word)
    looks = _most_looks(folded)
    while at >= 0:
        looks -= 1
        if not looks:
            return True
        end = at + len(word)
        if word == b"key" and not folded[max(at - 12, 0) : at].rstrip(b"_-").endswith(KEY_QUALIFIERS):
            at = folded.find(word, end)
            continue
        rest = folded[end : end + 112].lstrip(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")
        if rest[:1] in b" =\t" and b"--" in folded[max(at - 48, 0) : at]:
            return True
        rest = rest.lstrip(b" \t\"'\\]")
        if rest[:2] == b"is":
            return True
        if rest and rest[0] in b"=:>" and not _is_structure(rest) and not (may_be_count and _is_count(rest)):
            return True
        at = folded.find(word, end)
    return False


def _is_count(rest: bytes) -> bool:
    """Whether what is assigned is a plain number, as in `"input_tokens": 1234`."""
    value = rest.lstrip(b" \t=:>\"'\\")
    if not value[:1].isdigit():
        return False
    after = value.lstrip(b"0123456789.")
    return bool(after) and len(value) - len(after) <= 20 and after[0] in b" \t\r\n,;}])\"'\\"


def _is_structure(rest: bytes) -> bool:
    """Whether what is assigned is JSON of another type than string, as in `"tokens": {` or `"token": null}`."""
    value = rest.lstrip(b" \t:")
    if rest[0] != 58:  # a colon
        return False
    return value.startswith((b"{", b"[", b"null,", b"null}", b"true,", b"true}", b"false,", b"false}"))


def _escaped(folded: bytes) -> bool:
    """Whether printable ASCII is written as `\\u0041`: any literal could hide behind that."""
    if b"\\u00" not in folded:
        return False
    return any(start in folded for start in (b"\\u002", b"\\u003", b"\\u004", b"\\u005", b"\\u006", b"\\u007"))


def _user_info(folded: bytes) -> bool:
    """Whether some URL has a user part: an `@`, or the end of a cut payload, before the first slash, blank or quote."""
    if _is_user_part(folded[-512:]):
        return True
    at = folded.find(b"@")
    looks = _most_looks(folded)
    while at >= 0:
        looks -= 1
        if not looks:
            return True
        if _is_user_part(folded[max(at - 512, 0) : at]):
            return True
        at = folded.find(b"@", at + 1)
    return False


def _is_user_part(before: bytes) -> bool:
    """Whether this ends in a URL that has got no further than its user or host."""
    scheme = max(before.rfind(b"://"), before.rfind(b":\\/\\/"), before.rfind(b":\\\\/\\\\/"))
    if scheme < 0:
        return False
    rest = before[scheme + 3 :].lstrip(b"\\/")
    return b"/" not in rest and b" " not in rest and b'"' not in rest and b"\n" not in rest
