r"""The secrets Hindbrain knows, as data: a name, the literals that betray it, and a pattern.

A rule is tried only where one of its literals occurs. Its pattern then runs over the whole payload, so it starts with a
literal where it can and never repeats without a bound unless nothing has to follow the run: that keeps it linear. The
last group to close is what gets removed; without a group it is the whole match.

Texts arrive plain, or as JSON strings, or as JSON within JSON strings. Hence three habits: a quote may have backslashes
before it, a value holds no quote and no half of an escape, and a word may start right after the n of `\n`. Order matters
only for the name: of two rules that overlap the first one is reported.
"""

from __future__ import annotations

from hindbrain.base import redact_assignments as names


class Rule:
    """One family of secrets."""

    __slots__ = ("also", "folded", "left", "literals", "longest", "name", "pattern")

    def __init__(
        self,
        name: str,
        literals: tuple[bytes, ...],
        pattern: bytes,
        *,
        also: bytes = b"",
        folded: bool = False,
        left: bytes = b"",
        longest: int = 0,
    ) -> None:
        self.name = name  # kebab-case, shown in the mark that replaces the secret
        self.literals = literals  # one of them occurs wherever the pattern matches; lower case if folded
        self.also = also  # and this occurs too; spares compiling the pattern for nothing
        self.pattern = pattern  # source, compiled when first needed; empty: `redact_blocks` finds it
        self.folded = folded  # matched against the lower-cased text
        self.left = left  # bytes that belong to the secret too when they stand right before the match
        self.longest = longest  # a longer find is something else, such as an image; 0: no limit

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"


_ALNUM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _edge(literal: bytes) -> bytes:
    """The literal where a word starts. It stands first so that the engine can search for it."""
    return rb"%b(?:(?<![A-Za-z0-9]%b)|(?<=\\[nrtbf]%b)|(?<=\\u[0-9A-Fa-f]{4}%b))" % (literal, literal, literal, literal)


def _spellings(word: bytes) -> tuple[bytes, ...]:
    """A word that must occur somewhere, for a pattern that needs the case of letters."""
    return word, word.title(), word.upper()


# Between a name and its value: `NAME=`, `"name": "`, `name => '`, `<Name>`.
_SIGN = rb"""(?:[\\"']{1,8}+\]?+)?+[ \t]{0,8}+(?:=>|:=|[=:>])[ \t]{0,8}+[\\"']{0,8}+"""
_SLASH = rb"\\{0,3}/"
_SLASHES = rb"(?://|\\/\\/|\\\\/\\\\/)"
_BREAK = rb"(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)"
# Lines of base64 after the first one; a short one must be alone on its line, or it is a word.
_MORE_LINES = (
    rb"""(?:%b[A-Za-z0-9+/]{1,80}+={0,2}(?:(?<=[A-Za-z0-9+/=]{16})|(?=[ \t]{0,8}(?:[\r\n"'\\]|\Z))))*+""" % _BREAK
)
# A letter outside ASCII as JSON may write it. Escapes of control characters end a value.
_LETTER = rb"\\{1,4}u(?!00[01])[0-9a-fA-F]{4}"
_BLANK = rb"(?:[ \t\r\n]|\\{1,4}[nrt]){1,8}"
# A value in a header or on a command line that stands for one kept elsewhere.
_STAND_IN = rb"(?!\[|[$<{*]|%[(s])"

_PRIVATE = (
    Rule("private", (b"<private",), b"", folded=True),
    Rule("private-key", (b"PRIVATE KEY",), b""),
    Rule(
        "private-key-body",
        (b"BAAKC", b"BADANBgkqhkiG9w0", b"b3BlbnNzaC1rZXkt", b"MHcCAQEE", b"MC4CAQAwBQYDK2Vw"),
        rb"(?:BAAKC(?<=MII[A-Za-z0-9]{3}IBAAKC)|BADANBgkqhkiG9w0(?<=MI[A-Za-z0-9]{4}IBADANBgkqhkiG9w0)"
        rb"|b3BlbnNzaC1rZXkt|MHcCAQEE|MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/=]{24,}+%b" % _MORE_LINES,
        left=_ALNUM,
    ),
    Rule(
        "putty-private-key",
        (b"Private-Lines:",),
        rb"Private-Lines:[ ]{0,4}[0-9]{1,4}(%b+)" % _MORE_LINES.removesuffix(b"+"),
    ),
    Rule("age-secret-key", (b"AGE-SECRET-KEY-1",), rb"AGE-SECRET-KEY-1[A-Z0-9]{40,}+"),
    Rule(
        "jwt",
        (b"eyJ",),
        # The edge keeps it linear: a run of the token's own bytes is entered once, at its start.
        rb"eyJ(?:(?<![\w\-]eyJ)|(?<=\\[nrtbf]eyJ)|(?<=\\u[0-9A-Fa-f]{4}eyJ))[\w\-]{8,}+"
        rb"\.(?:eyJ[\w\-]{8,}+(?:\.[\w\-]*+)?|[\w\-]*+(?:\.[\w\-]++){3})",
    ),
    Rule(
        "base64-wrapped",
        (
            b"Z2hwX", b"docF8", b"docF9", b"naHBf", b"Z2l0aHViX3BhdF", b"dpdGh1Yl9wYXRf", b"naXRodWJfcGF0X", b"c2stYW50L",
            b"NrLWFudC", b"zay1hbnQt", b"QUtJQ", b"BS0lB", b"eG94Yi", b"hveGIt", b"4b3hiL", b"Z2xwYXQt", b"dscGF0L",
            b"nbHBhdC",
        ),
        rb"(?:Z2hwX|docF[89]|naHBf|Z2l0aHViX3BhdF|dpdGh1Yl9wYXRf|naXRodWJfcGF0X|c2stYW50L|NrLWFudC|zay1hbnQt|QUtJQ|BS0lB"
        rb"|eG94Yi|hveGIt|4b3hiL|Z2xwYXQt|dscGF0L|nbHBhdC)[A-Za-z0-9+/_\-]{16,}+={0,2}",
        left=_ALNUM + b"+/_-",
        longest=4096,
    ),
    Rule(
        "base64-private-key",
        (b"LS0tLS1CRUdJTi", b"0tLS0tQkVHSU4g", b"tLS0tLUJFR0lOI"),
        rb"(?:LS0tLS1CRUdJTi|0tLS0tQkVHSU4g|tLS0tLUJFR0lOI)[A-Za-z0-9+/_\-]{40,}+={0,2}%b" % _MORE_LINES,
        left=_ALNUM + b"+/_-",
    ),
)  # fmt: skip

_CLOUDS = (
    Rule(
        "aws-access-key-id",
        (b"AKIA", b"ASIA"),
        rb"%b[A-Z2-7]{16}(?![A-Za-z0-9])" % _edge(b"A[KS]IA"),
    ),
    Rule(
        "aws-secret-key",
        (b"secret",),
        rb"secret[_\-]?(?:access)?[_\-]?key%b([a-z0-9/+]{40})(?![a-z0-9/+])" % _SIGN,
        folded=True,
    ),
    Rule(
        "aws-session-token",
        (b"session_token", b"session-token", b"sessiontoken"),
        rb"session[_\-]?token%b([a-z0-9/+=]{100,}+)" % _SIGN,
        folded=True,
    ),
    Rule("gcp-api-key", (b"AIza",), rb"AIza[\w\-]{35,}+"),
    Rule("gcp-key-id", (b"private_key_id",), rb"private_key_id%b([a-f0-9]{40})(?![A-Za-z0-9])" % _SIGN),
    Rule("google-client-secret", (b"GOCSPX-",), rb"GOCSPX-[\w\-]{20,}+"),
    Rule("google-access-token", (b"ya29.",), rb"ya29\.[\w\-]{20,}+"),
    Rule("google-refresh-token", (b"1//0",), rb"%b[\w\-]{40,}+" % _edge(b"1//0")),
    Rule(
        "azure-storage-key",
        (b"accountkey", b"accesskey"),
        rb"(?:account|access)key[ ]{0,2}=[ ]{0,2}([a-z0-9+/]{40,}+={0,2})",
        folded=True,
    ),
    Rule("azure-sas", (b"sig=",), rb"sig=(?<=[?&;]sig=)([a-z0-9%+/_\-]{20,}+={0,2})", folded=True),
    Rule("azure-client-secret", (b"Q~",), rb"Q~(?<=[\w~.\-]{3}[0-9]Q~)[\w~.\-]{31,}+", left=_ALNUM + b"_~.-"),
    Rule("digitalocean", (b"dop_v1_", b"doo_v1_", b"dor_v1_"), rb"do[opr]_v1_[a-f0-9]{40,}+"),
    Rule("heroku-key", (b"HRKU-",), rb"HRKU-[\w\-]{30,}+"),
    Rule(
        "heroku-assignment",
        (b"heroku",),
        rb"heroku[\w.\-]{0,32}+%b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})" % _SIGN,
        folded=True,
    ),
    Rule("netlify", (b"nfp_",), rb"nfp_[A-Za-z0-9]{30,}+"),
    Rule("vercel", (b"vercel",), rb"vercel[\w.\-]{0,32}+%b([a-z0-9]{24})(?![a-z0-9])" % _SIGN, folded=True),
    Rule("cloudflare", (b"cloudflare",), rb"cloudflare[\w.\-]{0,32}+%b([\w\-]{37,}+)" % _SIGN, folded=True),
    Rule("databricks", (b"dapi",), rb"%b[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])" % _edge(b"dapi")),
    Rule("terraform", (b".atlasv1.",), rb"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w\-]{60,}+", left=_ALNUM),
    Rule("vault", (b"hvs.", b"hvb."), rb"hv[sb]\.[\w\-]{24,}+"),
    Rule("doppler", (b"dp.pt.", b"dp.st."), rb"dp\.[ps]t\.[\w.\-]{40,}+"),
    Rule("tailscale", (b"tskey-",), rb"tskey-[\w\-]{20,}+"),
    Rule("docker-hub", (b"dckr_pat_",), rb"dckr_pat_[\w\-]{20,}+"),
)

_FORGES = (
    Rule("github-token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"gh[pousr]_[A-Za-z0-9]{30,}+"),
    Rule("github-fine-grained", (b"github_pat_",), rb"github_pat_\w{22,}+"),
    Rule("gitlab-token", (b"glpat-", b"glptt-", b"gldt-", b"glrt-"), rb"gl(?:pat|ptt|dt|rt)-[\w\-.]{20,}+"),
    Rule("bitbucket", (b"ATBB",), rb"%b[A-Za-z0-9]{24,}+" % _edge(b"ATBB")),
    Rule("atlassian", (b"ATATT3", b"ATCTT3"), rb"AT[AC]TT3[\w\-=]{30,}+"),
    Rule("npm-token", (b"npm_",), rb"%b[A-Za-z0-9]{36,}+" % _edge(b"npm_")),
    Rule("pypi-token", (b"pypi-AgE",), rb"pypi-AgE[\w\-]{50,}+"),
    Rule("linear", (b"lin_api_",), rb"lin_api_[A-Za-z0-9]{32,}+"),
    Rule("notion", (b"ntn_",), rb"%b[A-Za-z0-9]{40,}+" % _edge(b"ntn_")),
    Rule("notion-secret", (b"secret_",), rb"%b[A-Za-z0-9]{43}(?!\w)" % _edge(b"secret_")),
    Rule("postman", (b"PMAK-",), rb"PMAK-[a-f0-9]{24}-[a-f0-9]{34}[A-Za-z0-9]*+"),
    Rule("sentry", (b"sntry",), rb"sntry[su]_[\w\-+/=.]{32,}+"),
    Rule("grafana", (b"glsa_",), rb"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}[A-Za-z0-9]*+"),
    Rule("grafana-cloud", (b"glc_eyJ",), rb"glc_eyJ[A-Za-z0-9+/]{30,}+={0,2}"),
    Rule("new-relic", (b"NRAK-", b"NRII-"), rb"NR(?:AK|II)-[\w\-]{27,}+"),
    Rule(
        "datadog",
        (b"datadog", b"dd_app", b"dd-app"),
        rb"d(?:atadog|d[_\-]app)[\w.\-]{0,32}+%b([a-f0-9]{32,40})(?![a-z0-9])" % _SIGN,
        folded=True,
    ),
)

_SERVICES = (
    Rule("anthropic", (b"sk-ant-",), rb"sk-ant-[\w\-]{20,}+"),
    Rule(
        "openai",
        (b"sk-",),
        rb"%b(?=(?:proj|svcacct|admin|or-v1)-[\w\-]{16}|[A-Za-z0-9]{20})(?=[A-Za-z_\-]{0,64}+[0-9])[\w\-]++"
        % _edge(b"sk-"),
    ),
    Rule("hugging-face", (b"hf_",), rb"%b[A-Za-z0-9]{30,}+" % _edge(b"hf_")),
    Rule("groq", (b"gsk_",), rb"%b[A-Za-z0-9]{30,}+" % _edge(b"gsk_")),
    Rule("perplexity", (b"pplx-",), rb"pplx-[A-Za-z0-9]{30,}+"),
    Rule("xai", (b"xai-",), rb"%b[A-Za-z0-9]{40,}+" % _edge(b"xai-")),
    Rule("langsmith", (b"lsv2_",), rb"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}[A-Za-z0-9]*+"),
    Rule("replicate", (b"r8_",), rb"%b[A-Za-z0-9]{30,}+" % _edge(b"r8_")),
    Rule("slack-token", (b"xox", b"xapp-"), rb"x(?:ox[abeoprs](?:\.xox[bp])?|app)-[A-Za-z0-9\-]{10,}+"),
    Rule(
        "slack-webhook",
        (b"hooks.slack.com",),
        rb"hooks\.slack\.com%b(?:services|workflows|triggers)((?:%b[a-z0-9]{6,}+){2,4}+)" % (_SLASH, _SLASH),
        folded=True,
    ),
    Rule(
        "discord-token",
        _spellings(b"discord"),
        rb"[MNO](?<![\w\-.][MNO])[\w\-]{23,27}+\.[\w\-]{6}\.[\w\-]{27,}+",
        also=b".",
    ),
    Rule(
        "discord-webhook",
        (b"discord",),
        rb"api%bwebhooks%b[0-9]{10,24}%b([\w\-]{40,}+)" % (_SLASH, _SLASH, _SLASH),
        folded=True,
        also=b"webhooks",
    ),
    Rule("telegram", (b":AA",), rb":AA(?<=[0-9]{8}:AA)[\w\-]{32,}+", left=b"0123456789"),
    Rule("stripe", (b"k_live_", b"k_test_"), rb"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    Rule("stripe-webhook", (b"whsec_",), rb"whsec_[A-Za-z0-9+/]{24,}+={0,2}"),
    Rule("square", (b"sq0",), rb"sq0[a-z]{3}-[\w\-]{20,}+"),
    Rule("paypal", (b"access_token$",), rb"access_token\$(?:production|sandbox)\$[a-z0-9]{10,24}+\$[a-f0-9]{32,}+"),
    Rule("twilio", _spellings(b"twilio"), rb"[AS][CK](?<![A-Za-z0-9]..)[0-9a-f]{32}(?![A-Za-z0-9])"),
    Rule("sendgrid", (b"SG.",), rb"%b[\w\-]{16,64}+\.[\w\-]{16,}+" % _edge(rb"SG\.")),
    Rule("mailgun", (b"key-",), rb"%b[0-9a-f]{32}(?![A-Za-z0-9])" % _edge(b"key-")),
    Rule("mailchimp", (b"-us",), rb"-us(?<=[0-9a-f]{32}-us)[0-9]{1,2}(?![A-Za-z0-9])", left=b"0123456789abcdef"),
    Rule("shopify", (b"shpat_", b"shpca_", b"shppa_", b"shpss_"), rb"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}+"),
)

_CARRIERS = (
    Rule(
        "url-password",
        (b"://", rb":\/\/", rb":\\/\\/"),
        rb""":%b(?:[^\s"'\\/:@<>`]{0,128}+:%b([^\s"'\\/<>`]{1,256})|([A-Za-z0-9_\-]{20,256}+))(?:@(?=[A-Za-z0-9\[_$])|\Z)"""
        % (_SLASHES, rb"(?![0-9]*\Z)" + _STAND_IN),
    ),
    Rule(
        "connection-string",
        (b"password", b"pwd"),
        rb""";[ ]{0,2}(?:password|pwd)=%b((?:[^;"'\\\r\n<>]++|%b)++)""" % (_STAND_IN, _LETTER),
        folded=True,
        also=b";",
    ),
    Rule(
        "authorization",
        (b"authorization",),
        rb"""authorization[\\"']{0,8}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{0,8}"""
        rb"""(?:(?:bearer|basic|token|digest|apikey|bot)[ \t]{1,4}%b([^\s"'\\,;<>}]{8,}+)"""
        rb"""|%b(?=[^\s"'\\,;<>}0-9]{0,64}+[0-9])([^\s"'\\,;<>}]{12,}+))""" % (_STAND_IN, _STAND_IN),
        folded=True,
    ),
    Rule(
        "bearer-token",
        (b"bearer ",),
        rb"bearer[ ]{1,4}(?=[a-z_.~+/=\-]{0,64}+[0-9])([\w.~+/=\-]{16,}+)",
        folded=True,
    ),
    Rule(
        "cookie",
        (b"cookie",),
        rb"""cookie[\\"']{0,8}[ \t]{0,4}:[ \t]{0,4}[\\"']{0,8}([\w.$%\-]{1,64}+=[^"'\\\r\n]{4,}+)""",
        folded=True,
    ),
    Rule(
        "curl-user",
        _spellings(b"curl"),
        rb"""[ ]-(?:u|-(?:proxy-)?user)[ =]{0,3}[\\"']{0,9}[^\s:"'\\]{1,64}+:(?![0-9]+(?:[\s"'\\]|\Z))%b([^\s"'\\]{3,}+)"""
        % _STAND_IN,
        also=b" -",
    ),
    Rule("sshpass", (b"sshpass",), rb"""sshpass[ ]{1,4}-p[ ]{0,4}[\\"']{0,9}%b([^\s"'\\]{3,}+)""" % _STAND_IN),
    Rule(
        "mysql-password",
        (b"mysql",),
        rb"""[ ]-p(?=[^\s"'\\/:0-9]{0,64}+[0-9])(?=[^\s"'\\/:A-Za-z]{0,64}+[A-Za-z])%b([^\s"'\\/:]{6,}+)""" % _STAND_IN,
        also=b" -p",
    ),
    Rule(
        "netrc",
        (b"machine",),
        rb"""login%b[^\s"'\\]{1,64}+%bpassword%b%b([^\s"'\\]{3,}+)""" % (_BLANK, _BLANK, _BLANK, _STAND_IN),
        folded=True,
        also=b"login",
    ),
    Rule(
        "npmrc-auth",
        (b"_auth",),
        rb"""_auth(?:token)?[ ]{0,2}=[ ]{0,2}[\\"']{0,9}%b([^\s"'\\]{8,}+)""" % _STAND_IN,
        folded=True,
    ),
    Rule(
        "pgpass",
        (b":5432:", b":*:"),
        rb""":(?:5432|\*):[^\s:"'\\]{1,64}+:[^\s:"'\\]{1,64}+:%b([^\s:"'\\]{3,}+)""" % _STAND_IN,
    ),
    Rule(
        "docker-auth",
        (b'"auth"', b'"auth\\'),
        rb""""auth(\\{0,7})"\s{0,4}:\s{0,4}\1"(?=[A-Za-z+/]{0,128}+[0-9=])([A-Za-z0-9+/]{12,}+={0,2})""",
    ),
    Rule("kubeconfig", (b"client-key-data",), rb"client-key-data%b([A-Za-z0-9+/]{40,}+={0,2})" % _SIGN),
)

_NAMES = (
    Rule("env-secret", names.ENV_LITERALS, names.ENV),
    Rule("secret-flag", names.FLAG_LITERALS, names.FLAG, also=b"--", folded=True),
    Rule("secret-element", names.ELEMENT_LITERALS, names.ELEMENT, folded=True),
    Rule("password-assignment", names.PASSWORD_LITERALS, names.PASSWORD, folded=True),
    Rule("secret-assignment", names.SECRET_LITERALS, names.SECRET, folded=True),
    Rule("token-assignment", names.TOKEN_LITERALS, names.TOKEN, folded=True),
)

RULES: tuple[Rule, ...] = _PRIVATE + _CLOUDS + _FORGES + _SERVICES + _CARRIERS + _NAMES
