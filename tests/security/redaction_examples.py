"""Each rule -> texts in which it must find a secret, and texts it must leave alone.

A secret stands between ⟪ and ⟫. All of them are made up, and put together at run time so that no scanner mistakes this
file for a leak.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass


@dataclass(frozen=True)
class Examples:
    """What one rule must and must not find."""

    secrets: tuple[str, ...]
    harmless: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One text with a secret, and what must be left of it."""

    rule: str
    text: str
    left: str


def mix(length: int) -> str:
    return ("A1b2C3d4E5f6G7h8J9k0" * 400)[:length]


def hexa(length: int) -> str:
    return ("0a1b2c3d4e5f6789" * 20)[:length]


def upper(length: int) -> str:
    return ("ABCD2EFGH3IJKL4MNOP5" * 20)[:length]


def wrapped(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


BEGIN = "-----BEG" + "IN "
END = "-----E" + "ND "
KEY = "PRIVATE " + "KEY-----"
BODY = "\n".join((mix(64), mix(64)[::-1], mix(40) + "=="))
UUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
SHA = "3f786850e387550fdab836ed7e6dc881de23001b"

TABLE: dict[str, Examples] = {
    "private": Examples(
        (
            "say ⟪<private>my street</private>⟫ no more",
            "⟪<PRIVATE>two\nlines</Private>⟫ x",
            "a ⟪<private>b<private>c</private>d</private>⟫ e",
        ),
        ("a private matter", "class A { private: int x; } </private>"),
    ),
    "private-key": Examples(
        (
            f"⟪{BEGIN}RSA {KEY}\n{BODY}\n{END}RSA {KEY}⟫ after",
            f"key: ⟪{BEGIN}OPENSSH {KEY}\n{BODY}\n{END}OPENSSH {KEY}⟫",
            f"⟪{BEGIN}EC {KEY}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{upper(32)}\n\n{BODY}\n{END}EC {KEY}⟫\ndone",
            f"⟪{BEGIN}PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v1\n\n{BODY}\n=aB3d\n{END}PGP PRIVATE KEY BLOCK-----⟫",
            f"cut; ⟪{BEGIN}{KEY}\n{mix(64)}\n{mix(30)}⟫",
            f"tail; ⟪{mix(64)}\n{mix(20)}==\n{END}{KEY}⟫ end",
            f"numbered: ⟪{BEGIN}{KEY}\n     2→{mix(64)}\n     3→{mix(20)}\n     4→{END}{KEY}⟫",
            f"⟪---- {BEGIN[5:]}SSH2 ENCRYPTED PRIVATE KEY ----\n{BODY}\n---- {END[5:]}SSH2 ENCRYPTED PRIVATE KEY ----⟫",
        ),
        (
            f"{BEGIN}PUBLIC KEY-----\n{mix(64)}\n{END}PUBLIC KEY-----",
            f"the header `{BEGIN}{KEY}` opens a key",
            f"{BEGIN}CERTIFICATE-----\n{mix(64)}\n{END}CERTIFICATE-----",
            f"it closes with `{END}{KEY}` as usual",
        ),
    ),
    "private-key-body": Examples(
        (
            "body ⟪" + "MIIEow" + "IBAAKC" + mix(64) + "\n" + mix(40) + "⟫",
            "⟪" + "b3BlbnNzaC1r" + "ZXktdjEAAAAA" + mix(60) + "⟫ x",
            "der: ⟪" + "MHcCAQ" + "EE" + mix(60) + "⟫;",
        ),
        ("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" + mix(60), "the word BAAKC alone"),
    ),
    "putty-private-key": Examples(
        (
            f"Private-Lines: 2⟪\n{mix(64)}\n{mix(64)}⟫\nPrivate-MAC: x",
            f"Private-Lines: 1⟪\n{mix(64)}⟫",
            f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 3⟪\n{mix(64)}\n{mix(64)}\n{mix(12)}==⟫\n",
        ),
        ("Private-Lines: none", f"Public-Lines: 1\n{mix(64)}"),
    ),
    "age-secret-key": Examples(
        tuple(
            s + "⟪AGE-SECRET-" + "KEY-1" + upper(58) + "⟫" + e for s, e in (("", ""), ("# key\n", "\n"), ("id=", " x"))
        ),
        ("AGE-SECRET-KEY-1 is the prefix", "age1" + mix(58).lower()),
    ),
    "jwt": Examples(
        (
            "jwt ⟪ey" + "J" + mix(20) + ".ey" + "J" + mix(40) + "." + mix(43) + "⟫ end",
            "⟪ey" + "J" + mix(33) + ".ey" + "J" + mix(12) + ".⟫",
            "(⟪ey" + "J" + mix(30) + "." + mix(30) + "." + mix(16) + "." + mix(50) + "." + mix(22) + "⟫)",
        ),
        ("eyJ is how they start", "eyJ" + mix(40), "eyJ" + mix(20) + ".txt"),
    ),
    "base64-wrapped": Examples(
        (
            "value ⟪" + wrapped("gh" + "p_" + mix(36)) + "⟫ end",
            "⟪" + wrapped("x:sk" + "-ant-" + mix(30)) + "⟫",
            "b64 ⟪" + wrapped("u:gl" + "pat-" + mix(20)) + "⟫\n",
            "aws ⟪" + wrapped("AK" + "IA" + upper(16)) + "⟫",
            "bot ⟪" + wrapped("ab" + "xo" + "xb-" + mix(30)) + "⟫",
        ),
        (wrapped("a plain sentence about nothing at all"), "data:image/png;base64," + mix(2000) + "Z2hwX" + mix(3000)),
    ),
    "base64-private-key": Examples(
        tuple("tls.key: ⟪" + wrapped("ab"[:n] + BEGIN + "RSA " + KEY + "\n" + BODY) + "⟫\n" for n in range(3)),
        (wrapped("-----ENDING"), "LS0tLS1CRUdJTi"),
    ),
    "aws-access-key-id": Examples(
        (
            "id ⟪AK" + "IA" + upper(16) + "⟫.",
            "⟪AS" + "IA" + upper(16) + "⟫",
            "X-Amz/⟪AK" + "IA" + upper(16) + "⟫/20260101/x",
        ),
        ("AKIA is a prefix", "ASIA AND EUROPE", "BLAK" + "IA" + upper(16)),
    ),
    "aws-secret-key": Examples(
        (
            "AWS_SECRET_ACCESS_KEY=⟪" + mix(40) + "⟫",
            'aws_secret_access_key = "⟪' + mix(38) + "/+" + '⟫"',
            '{"SecretAccessKey": "⟪' + mix(40) + '⟫"}',
        ),
        ("aws_secret_access_key = ${AWS_KEY}", "the secret access key is in the vault"),
    ),
    "aws-session-token": Examples(
        (
            "AWS_SESSION_TOKEN=⟪" + mix(180) + "==⟫",
            '"SessionToken": "⟪' + mix(120) + '⟫"',
            "<SessionToken>⟪" + mix(150) + "⟫</SessionToken>",
        ),
        ("session_token is needed", "aws_session_token = os.environ['T']"),
    ),
    "gcp-api-key": Examples(
        ("⟪AI" + "za" + mix(35) + "⟫", "maps?q=⟪AI" + "za" + mix(35) + "⟫&x=1", "g: ⟪AI" + "za" + mix(33) + "_-⟫ end"),
        ("AIza alone", "AIza" + mix(20)),
    ),
    "gcp-key-id": Examples(
        (
            '"private_key_id": "⟪' + hexa(40) + '⟫"',
            "private_key_id=⟪" + hexa(40) + "⟫",
            "private_key_id: ⟪" + hexa(40) + "⟫\n",
        ),
        ('"private_key_id": ""', "private_key_id is a field"),
    ),
    "google-client-secret": Examples(
        ("⟪GOC" + "SPX-" + mix(28) + "⟫", "id ⟪GOC" + "SPX-" + mix(24) + "_-ab⟫ x", "(⟪GOC" + "SPX-" + mix(28) + "⟫)"),
        ("GOCSPX-", "GOCSPX-short"),
    ),
    "google-access-token": Examples(
        (
            "⟪ya" + "29." + mix(60) + "⟫",
            "t ⟪ya" + "29." + mix(30) + "-_" + mix(30) + "⟫ x",
            "[⟪ya" + "29." + mix(100) + "⟫]",
        ),
        ("ya29.", "ya29.short"),
    ),
    "google-refresh-token": Examples(
        ("⟪1/" + "/0" + mix(60) + "⟫", "r ⟪1/" + "/0" + mix(45) + "-_⟫ x", "(⟪1/" + "/0" + mix(100) + "⟫)"),
        ("1//0", "x = 1//0 + y", "2021//0" + mix(60)),
    ),
    "azure-storage-key": Examples(
        (
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=⟪" + mix(86) + "==⟫;EndpointSuffix=x",
            "AccountKey=⟪" + mix(86) + "==⟫",
            "Endpoint=sb://x;SharedAccessKey=⟪" + mix(43) + "=⟫",
        ),
        ("AccountKey=", "AccountKey=<key>"),
    ),
    "azure-sas": Examples(
        (
            "https://x.blob/y?sv=2022&sig=⟪" + mix(40) + "%3D⟫",
            "https://x/y?sig=⟪" + mix(43) + "=⟫&se=1",
            "url?a=b&sig=⟪" + mix(43) + "%2B⟫ end",
        ),
        ("?sig=abc", "config=" + mix(40)),
    ),
    "azure-client-secret": Examples(
        ("s ⟪abc8" + "Q~" + mix(34) + "⟫ x", "⟪a_c1" + "Q~" + mix(31) + "⟫", "(⟪xyz9" + "Q~" + mix(30) + "~_⟫)"),
        ("Q~", "abcdQ~" + mix(34)),
    ),
    "digitalocean": Examples(
        tuple("⟪do" + k + "_v1_" + hexa(64) + "⟫ x" for k in "por"),
        ("dop_v1_", "dop_v1_" + "zz" * 32),
    ),
    "heroku-key": Examples(
        ("⟪HR" + "KU-" + mix(60) + "⟫", "h ⟪HR" + "KU-" + UUID + "⟫ x", "(⟪HR" + "KU-AA" + mix(58) + "⟫)"),
        ("HRKU-", "HRKU-short"),
    ),
    "heroku-assignment": Examples(
        ("HEROKU_API_KEY=⟪" + UUID + "⟫", 'heroku_key: "⟪' + UUID + '⟫"', "heroku.auth = ⟪" + UUID + "⟫"),
        ("heroku app id " + UUID, "request_id: " + UUID),
    ),
    "netlify": Examples(
        ("⟪nf" + "p_" + mix(36) + "⟫", "n ⟪nf" + "p_" + mix(40) + "⟫ x", "(⟪nf" + "p_" + mix(36) + "⟫)"),
        ("nfp_", "nfp_value_of_things"),
    ),
    "vercel": Examples(
        ("VERCEL_TOKEN=⟪" + mix(24) + "⟫", 'vercel_auth: "⟪' + mix(24) + '⟫"', "vercel.id => '⟪" + mix(24) + "⟫'"),
        ("vercel deploy: ok", "VERCEL_ENV=production"),
    ),
    "cloudflare": Examples(
        (
            "CLOUDFLARE_API_TOKEN=⟪" + mix(40) + "⟫",
            'cloudflare_key: "⟪' + hexa(37) + '⟫"',
            "cloudflare.ca = ⟪" + mix(50) + "⟫",
        ),
        ("cloudflare: enabled", "CLOUDFLARE_ZONE=example.com"),
    ),
    "databricks": Examples(
        ("⟪da" + "pi" + hexa(32) + "⟫", "d ⟪da" + "pi" + hexa(32) + "-2⟫ x", "(⟪da" + "pi" + hexa(32) + "⟫)"),
        ("dapi", "adapi" + hexa(32), "dapi" + hexa(20)),
    ),
    "terraform": Examples(
        (
            "⟪" + mix(14) + ".atlas" + "v1." + mix(67) + "⟫",
            "t ⟪" + mix(14) + ".atlas" + "v1." + mix(60) + "-_⟫ x",
            "(⟪" + mix(14) + ".atlas" + "v1." + mix(70) + "⟫)",
        ),
        (".atlasv1.", mix(14) + ".atlasv1.short"),
    ),
    "vault": Examples(
        ("⟪hv" + "s." + mix(24) + "⟫", "v ⟪hv" + "b." + mix(100) + "⟫ x", "(⟪hv" + "s." + mix(90) + "-_⟫)"),
        ("hvs.", "hvs.example.com"),
    ),
    "doppler": Examples(
        ("⟪dp.p" + "t." + mix(43) + "⟫", "d ⟪dp.s" + "t.dev." + mix(43) + "⟫ x", "(⟪dp.p" + "t." + mix(50) + "⟫)"),
        ("dp.pt.", "dp.st.short"),
    ),
    "tailscale": Examples(
        tuple("⟪ts" + "key-" + k + "-" + mix(12) + "-" + mix(24) + "⟫ x" for k in ("auth", "api", "client")),
        ("tskey-", "tskey-auth-x"),
    ),
    "docker-hub": Examples(
        (
            "⟪dckr_" + "pat_" + mix(27) + "⟫",
            "d ⟪dckr_" + "pat_" + mix(25) + "-_⟫ x",
            "(⟪dckr_" + "pat_" + mix(36) + "⟫)",
        ),
        ("dckr_pat_", "dckr_pat_short"),
    ),
    "github-token": Examples(
        tuple("a ⟪gh" + k + "_" + mix(36) + "⟫ b" for k in "pousr"),
        ("ghp_", "ghp_" + mix(12), "a sghp_thing"),
    ),
    "github-fine-grained": Examples(
        (
            "⟪github_" + "pat_" + mix(22) + "_" + mix(59) + "⟫",
            "g ⟪github_" + "pat_" + mix(82) + "⟫ x",
            "(⟪github_" + "pat_" + mix(30) + "⟫)",
        ),
        ("github_pat_", "github_pat_name"),
    ),
    "gitlab-token": Examples(
        tuple("a ⟪gl" + k + "-" + mix(20) + "⟫ b" for k in ("pat", "ptt", "dt", "rt")),
        ("glpat-", "glpat-xyz"),
    ),
    "bitbucket": Examples(
        ("⟪AT" + "BB" + mix(32) + "⟫", "b ⟪AT" + "BB" + mix(28) + "⟫ x", "(⟪AT" + "BB" + mix(32) + "⟫)"),
        ("ATBB", "ATBB" + mix(10), "x" + "ATBB" + mix(32)),
    ),
    "atlassian": Examples(
        ("⟪ATA" + "TT3" + mix(180) + "⟫", "a ⟪ATC" + "TT3" + mix(180) + "=⟫ x", "(⟪ATA" + "TT3x" + mix(60) + "-_⟫)"),
        ("ATATT3", "ATATT3short"),
    ),
    "npm-token": Examples(
        ("⟪np" + "m_" + mix(36) + "⟫", "n ⟪np" + "m_" + mix(36) + "⟫ x", "(⟪np" + "m_" + mix(40) + "⟫)"),
        ("npm_config_registry_of_the_company_x", "npm_" + mix(10), "x" + "npm_" + mix(36)),
    ),
    "pypi-token": Examples(
        (
            "⟪pypi-" + "AgEI" + mix(160) + "⟫",
            "p ⟪pypi-" + "AgEN" + mix(70) + "-_⟫ x",
            "(⟪pypi-" + "AgEI" + mix(60) + "⟫)",
        ),
        ("pypi-AgEI", "pypi-package-name"),
    ),
    "linear": Examples(
        ("⟪lin_" + "api_" + mix(40) + "⟫", "l ⟪lin_" + "api_" + mix(32) + "⟫ x", "(⟪lin_" + "api_" + mix(40) + "⟫)"),
        ("lin_api_", "lin_api_client_name_for_everything_x"),
    ),
    "notion": Examples(
        ("⟪nt" + "n_" + mix(46) + "⟫", "n ⟪nt" + "n_" + mix(50) + "⟫ x", "(⟪nt" + "n_" + mix(46) + "⟫)"),
        ("ntn_", "ntn_" + mix(20)),
    ),
    "notion-secret": Examples(
        ("⟪sec" + "ret_" + mix(43) + "⟫", "n ⟪sec" + "ret_" + mix(43) + "⟫ x", "(⟪sec" + "ret_" + mix(43) + "⟫)"),
        ("secret_" + mix(20), "my_secret_name_of_forty_three_letters_in_all_x"),
    ),
    "postman": Examples(
        tuple(s + "⟪PM" + "AK-" + hexa(24) + "-" + hexa(34) + "⟫" + e for s, e in (("", ""), ("p ", " x"), ("(", ")"))),
        ("PMAK-", "PMAK-" + hexa(24)),
    ),
    "sentry": Examples(
        (
            "⟪sntr" + "ys_" + mix(80) + "⟫",
            "s ⟪sntr" + "yu_" + hexa(64) + "⟫ x",
            "(⟪sntr" + "ys_eyJ" + mix(60) + "=_" + mix(43) + "⟫)",
        ),
        ("sntrys_", "sntryu_short"),
    ),
    "grafana": Examples(
        tuple(s + "⟪gl" + "sa_" + mix(32) + "_" + hexa(8) + "⟫" + e for s, e in (("", ""), ("g ", " x"), ("(", ")"))),
        ("glsa_", "glsa_" + mix(20)),
    ),
    "grafana-cloud": Examples(
        tuple(s + "⟪gl" + "c_ey" + "J" + mix(80) + "=⟫" + e for s, e in (("", ""), ("g ", " x"), ("(", ")"))),
        ("glc_eyJ", "glc_eyJ" + mix(12)),
    ),
    "new-relic": Examples(
        ("⟪NR" + "AK-" + upper(27) + "⟫", "n ⟪NR" + "II-" + mix(32) + "⟫ x", "(⟪NR" + "AK-" + upper(27) + "⟫)"),
        ("NRAK-", "NRAK-" + upper(8)),
    ),
    "datadog": Examples(
        (
            "DATADOG_API_KEY=⟪" + hexa(32) + "⟫",
            'dd_app_key: "⟪' + hexa(40) + '⟫"',
            "DD-APPLICATION-KEY: ⟪" + hexa(40) + "⟫",
        ),
        ("datadog: enabled", "dd_app_name=shop"),
    ),
    "anthropic": Examples(
        (
            "⟪sk" + "-ant-api03-" + mix(93) + "AA⟫",
            "a ⟪sk" + "-ant-" + mix(40) + "⟫ x",
            "(⟪sk" + "-ant-admin01-" + mix(80) + "-_⟫)",
        ),
        ("sk-ant-", "sk-ant-short"),
    ),
    "openai": Examples(
        (
            "⟪sk" + "-" + mix(48) + "⟫",
            "o ⟪sk" + "-proj-" + mix(60) + "-_" + mix(20) + "⟫ x",
            "(⟪sk" + "-svcacct-" + mix(60) + "⟫)",
            "⟪sk" + "-or-v1-" + hexa(64) + "⟫",
        ),
        ("task-" + mix(48), "sk-fading-circle-of-the-loading-page", "sk-learn and disk-" + hexa(32)),
    ),
    "hugging-face": Examples(
        ("⟪h" + "f_" + mix(34) + "⟫", "h ⟪h" + "f_" + mix(34) + "⟫ x", "(⟪h" + "f_" + mix(37) + "⟫)"),
        ("hf_hub_download", "hf_" + mix(10), "x" + "hf_" + mix(34)),
    ),
    "groq": Examples(
        ("⟪gs" + "k_" + mix(52) + "⟫", "g ⟪gs" + "k_" + mix(52) + "⟫ x", "(⟪gs" + "k_" + mix(40) + "⟫)"),
        ("gsk_", "gsk_" + mix(10)),
    ),
    "perplexity": Examples(
        ("⟪pp" + "lx-" + mix(48) + "⟫", "p ⟪pp" + "lx-" + mix(48) + "⟫ x", "(⟪pp" + "lx-" + hexa(56) + "⟫)"),
        ("pplx-", "pplx-70b-online"),
    ),
    "xai": Examples(
        ("⟪xa" + "i-" + mix(80) + "⟫", "x ⟪xa" + "i-" + mix(60) + "⟫ x", "(⟪xa" + "i-" + mix(80) + "⟫)"),
        ("xai-", "xai-grok-beta"),
    ),
    "langsmith": Examples(
        (
            "⟪ls" + "v2_pt_" + hexa(32) + "_" + hexa(10) + "⟫",
            "l ⟪ls" + "v2_sk_" + hexa(32) + "_" + hexa(10) + "⟫ x",
            "(⟪ls" + "v2_pt_" + hexa(32) + "_" + hexa(10) + "⟫)",
        ),
        ("lsv2_", "lsv2_pt_" + hexa(12)),
    ),
    "replicate": Examples(
        ("⟪r" + "8_" + mix(37) + "⟫", "r ⟪r" + "8_" + mix(37) + "⟫ x", "(⟪r" + "8_" + mix(40) + "⟫)"),
        ("r8_", "r8_" + mix(10), "arr8_" + mix(37)),
    ),
    "slack-token": Examples(
        (*("s ⟪xo" + "x" + k + "-123456789012-" + mix(24) + "⟫ x" for k in "abprs"), "⟪xa" + "pp-1-" + mix(40) + "⟫"),
        ("xoxb-", "xoxo and hugs", "foxox-terrier-of-mine"),
    ),
    "slack-webhook": Examples(
        tuple(
            "https://hooks.slack.com/" + k + "⟪/T" + upper(10) + "/B" + upper(10) + "/" + mix(24) + "⟫" + e
            for k, e in (("services", ""), ("workflows", " x"), ("triggers", '"'))
        ),
        ("https://hooks.slack.com/", "https://hooks.slack.com/services/"),
    ),
    "discord-token": Examples(
        (
            "discord bot: ⟪MT" + mix(22) + "." + mix(6) + "." + mix(38) + "⟫",
            "Discord ⟪ND" + mix(24) + "." + mix(6) + "." + mix(27) + "⟫ x",
            "DISCORD (⟪Nz" + mix(22) + "." + mix(6) + "." + mix(30) + "⟫)",
        ),
        ("discord.ext.commands", "discord MTest.module.function_of_many_letters_and_more"),
    ),
    "discord-webhook": Examples(
        (
            "https://discord.com/api/webhooks/123456789012345678/⟪" + mix(68) + "⟫",
            "https://discordapp.com/api/webhooks/123456789012345678/⟪" + mix(60) + "-_⟫ x",
            "w=https://Discord.com/api/webhooks/12345678901234/⟪" + mix(68) + "⟫",
        ),
        ("https://discord.com/api/webhooks/", "discord.com/api/v10/channels/123456789012345678"),
    ),
    "telegram": Examples(
        (
            "⟪12345678:" + "AA" + mix(33) + "⟫",
            "bot⟪1234567890:" + "AA" + mix(33) + "⟫/send",
            "(⟪123456789:" + "AA" + mix(30) + "-_⟫)",
        ),
        ("00:AA:BB:CC:DD:EE", "1234:AA" + mix(33)),
    ),
    "stripe": Examples(
        tuple("s ⟪" + k + "_" + m + "_" + mix(24) + "⟫ x" for k in ("s" + "k", "r" + "k") for m in ("live", "test")),
        ("sk_test_", "task_test_results_are_in"),
    ),
    "stripe-webhook": Examples(
        ("⟪whs" + "ec_" + mix(32) + "⟫", "w ⟪whs" + "ec_" + mix(40) + "⟫ x", "(⟪whs" + "ec_" + mix(31) + "=⟫)"),
        ("whsec_", "whsec_short"),
    ),
    "square": Examples(
        ("⟪sq" + "0atp-" + mix(22) + "⟫", "s ⟪sq" + "0csp-" + mix(43) + "⟫ x", "(⟪sq" + "0idp-" + mix(22) + "⟫)"),
        ("sq0", "sq0atp-x"),
    ),
    "paypal": Examples(
        tuple(
            s + "⟪access_token" + "$" + k + "$" + mix(16).lower() + "$" + hexa(32) + "⟫" + e
            for s, k, e in (("", "production", ""), ("p ", "sandbox", " x"), ("(", "production", ")"))
        ),
        ("access_token$", "access_token$production$x"),
    ),
    "twilio": Examples(
        (
            "twilio ⟪S" + "K" + hexa(32) + "⟫",
            "Twilio: ⟪A" + "C" + hexa(32) + "⟫ x",
            "TWILIO (⟪S" + "K" + hexa(32) + "⟫)",
        ),
        ("twilio SK", "the twilio commit " + SHA),
    ),
    "sendgrid": Examples(
        (
            "⟪S" + "G." + mix(22) + "." + mix(43) + "⟫",
            "s ⟪S" + "G." + mix(20) + "-_." + mix(43) + "⟫ x",
            "(⟪S" + "G." + mix(22) + "." + mix(43) + "⟫)",
        ),
        ("SG.", "MSG.format.of_the_message_we_all_know_now"),
    ),
    "mailgun": Examples(
        ("⟪ke" + "y-" + hexa(32) + "⟫", "m ⟪ke" + "y-" + hexa(32) + "⟫ x", "api:⟪ke" + "y-" + hexa(32) + "⟫@"),
        ("key-value", "monkey-" + hexa(32), "key-" + hexa(40)),
    ),
    "mailchimp": Examples(
        ("⟪" + hexa(32) + "-u" + "s6⟫", "m ⟪" + hexa(32) + "-u" + "s20⟫ x", "(⟪" + hexa(32) + "-u" + "s1⟫)"),
        ("en-us", hexa(32) + "-user", "build-us2"),
    ),
    "shopify": Examples(
        tuple("s ⟪shp" + k + "_" + hexa(32) + "⟫ x" for k in ("at", "ca", "pa", "ss")),
        ("shpat_", "shpat_short"),
    ),
    "url-password": Examples(
        (
            "postgres://user:⟪p%40ss-1⟫@db.example.com:5432/app",
            "git clone https://me:⟪x-oauth-basic⟫@host/x.git",
            "redis://:⟪hunter2⟫@localhost:6379/0",
            "amqp://a:⟪p@ss⟫@10.0.0.1/v",
            "https://⟪" + hexa(40) + "⟫@git.example.com/x",
        ),
        (
            "http://localhost:8080/a@b",
            "https://user@host/x",
            "postgres://u:${PASS}@h/d",
            "ssh://git@github.com/x/y.git",
            "http://h:80/ me@x.org",
        ),
    ),
    "connection-string": Examples(
        (
            "Server=x;Database=y;Password=⟪a b c⟫;Encrypt=1",
            "Uid=sa;Pwd=⟪pässe⟫;",
            "User=u; Password=⟪correct horse⟫;Timeout=5",
        ),
        ("a; b; password", "Server=x;Password=${P};"),
    ),
    "authorization": Examples(
        (
            "Authorization: Bearer ⟪" + mix(30) + "⟫",
            'curl -H "Authorization: Basic ⟪' + mix(20) + '⟫"',
            '{"authorization": "⟪' + mix(30) + '⟫"}',
            "authorization=token ⟪" + mix(12) + "⟫ x",
        ),
        (
            "Authorization: Bearer <token>",
            "authorization: required",
            "Authorization: Bearer ${TOKEN}",
            "Authorization: Bearer {token}",
        ),
    ),
    "bearer-token": Examples(
        ("Bearer ⟪" + mix(24) + "⟫", "use bearer ⟪" + mix(16) + "⟫ there", "'Bearer ⟪" + mix(20) + "-._~+/=⟫'"),
        ("the bearer authentication-scheme is old", "Bearer token", "Bearer $TOKEN1234567890123"),
    ),
    "cookie": Examples(
        (
            "Cookie: ⟪session=abcdef; theme=dark⟫",
            "Set-Cookie: ⟪id=a3fWa; Path=/; HttpOnly⟫",
            '{"cookie": "⟪sid=12345; x=y⟫"}',
        ),
        ("cookie: a small biscuit", "Cookie: none", "cookies are fine"),
    ),
    "curl-user": Examples(
        (
            "curl -u admin:⟪s3cr3t⟫ https://x",
            "curl -sS --user 'me:⟪pa55⟫' x",
            "curl -uroot:⟪toor⟫ x",
            "curl --proxy-user a:⟪bcd⟫ x",
        ),
        ("curl -u $USER:$PASS x", "docker run -u 1000:1000 curl", "git push -u origin main; curl x"),
    ),
    "sshpass": Examples(
        ("sshpass -p ⟪hunter2⟫ ssh x", "sshpass -p'⟪hunter2⟫' ssh x", 'sshpass -p "⟪hunter2⟫" scp'),
        ("sshpass -e ssh x", 'sshpass -p "$PASS" ssh'),
    ),
    "mysql-password": Examples(
        ("mysql -u root -p⟪hunter22⟫ db", "mysqldump -p⟪S3cretpw⟫ > x", "mysql -h h -p⟪a1b2c3⟫"),
        ("mysql -u root -p db", "mkdir -p mysql/data", "docker run -p3306:3306 mysql"),
    ),
    "netrc": Examples(
        (
            "machine h login me password ⟪hunter⟫",
            "machine h\n  login me\n  password ⟪abc⟫\n",
            "machine h login a@b.c password ⟪p4ss⟫ x",
        ),
        ("the machine asks for login and password", "machine h login me password $PW"),
    ),
    "npmrc-auth": Examples(
        ("//registry/:_authToken=⟪" + mix(36) + "⟫", "_auth=⟪" + mix(20) + "=⟫", "_auth = ⟪" + mix(12) + "⟫\n"),
        ("_authToken=${NPM_TOKEN}", "use_auth=true"),
    ),
    "pgpass": Examples(
        ("localhost:5432:db:user:⟪hunter2⟫", "*:*:*:me:⟪pass⟫\n", "db.x:5432:*:app:⟪p4ss⟫ x"),
        ("0.0.0.0:5432->5432/tcp", "a:*:b"),
    ),
    "docker-auth": Examples(
        (
            '"auth": "⟪' + wrapped("user:pass12") + '⟫"',
            '"auth":"⟪' + mix(20) + '==⟫"',
            '{"auths":{"h":{"auth": "⟪' + mix(30) + '⟫"}}}',
        ),
        ('"auth": "required"', '"auth": ""'),
    ),
    "kubeconfig": Examples(
        tuple("client-key-data: ⟪" + mix(n) + "==⟫\n" for n in (60, 200, 400)),
        ("client-key-data: ", "client-key: /etc/k.pem"),
    ),
    "env-secret": Examples(
        (
            "export FOO_SECRET=⟪letmein⟫",
            "DB_PASSWORD=⟪correcthorse⟫\nX=1",
            "POSTGRES_PASSWORD: ⟪postgres⟫",
            'SMTP_PASS="⟪abcd⟫"',
            "ENCRYPTION_KEY=⟪" + mix(16) + "⟫",
            "API_TOKEN='⟪abc-def⟫'",
        ),
        (
            "DB_PASSWORD=$OTHER",
            "TOKEN=$(cat x)",
            "API_KEY=<your key>",
            "PRIMARY_KEY=user_id",
            "PWD=/home/me",
            "API_KEY: string",
            "MAX_TOKEN=4096",
            "SECRET=settings.SECRET",
            "TOKEN=get_token()",
            "PASSWORD=password,",
        ),
    ),
    "secret-flag": Examples(
        (
            "login --password ⟪hunter2⟫ x",
            "tool --api-key=⟪abcdef⟫ y",
            "run --db-password '⟪p4ssw⟫'",
            "gh --token ⟪" + mix(20) + "⟫",
        ),
        (
            "use the --token flag",
            "docker login --password-stdin",
            "x --token $TOKEN",
            "--password=<pw>",
            "--secret-key ~/.ssh/id_1",
        ),
    ),
    "secret-element": Examples(
        (
            "<password>⟪hunter2⟫</password>",
            "<db:Token>⟪abcdef⟫</db:Token>",
            "<a><api-key>⟪" + mix(20) + "⟫</api-key></a>",
        ),
        ("<token>1234</token>", "<label>password</label>", "<password>${db.pass}</password>"),
    ),
    "password-assignment": Examples(
        (
            "password=⟪hunter2⟫",
            "password = '⟪hunter2⟫'",
            '{"password": "⟪letmein⟫"}',
            'user.passwd => "⟪a\'b#c⟫"',
            'password: str = "⟪s3cr3t⟫"',
            "dsn host=x password=⟪abcdefg⟫ port=1",
            "the password is ⟪hunter2⟫ ok",
            "db_pass: ⟪correct-horse⟫",
            'os.environ["PGpassword"] = "⟪letmein⟫"',
            "?user=a&password=⟪abcdefg⟫&x=1",
            '{"userPassword": "⟪,}]: "⟫"}'.replace(': "⟫', "x⟫"),
        ),
        (
            "password: str",
            "password=None",
            "password=password)",
            "password: string;",
            '"password": ""',
            "password=getpass()",
            "password = self.password",
            "password=os.environ['X']",
            "password: process.env.PW",
            "password={{ pw }}",
            '"password": "<your-password>"',
            '"password": "${PW}"',
            "password: ********",
            '"pwd": "/home/me/x"',
            "password=xxxxxxxx",
            '{"a": "set password=", "b": "next"}',
            "password: true,",
        ),
    ),
    "secret-assignment": Examples(
        (
            "client_secret=⟪abc12345⟫",
            "apiKey: '⟪supersecretvalue⟫'",
            '{"access_key": "⟪' + mix(20) + '⟫"}',
            'os.environ["api_key"] = "⟪abc.def.12345⟫"',
            "secret_key := `x`; secretKey = ⟪k3y-value-1⟫",
        ),
        (
            'os.environ["API_KEY"]',
            "secret = get_secret()",
            "api_key=settings.API_KEY_V2",
            "api_key: str",
            '"secret": "${S}"',
            "secret = base64.b64encode(x)",
            'secretary: "Bob12345"',
            "secret_name: my-app-01",
        ),
    ),
    "token-assignment": Examples(
        (
            "token=⟪abc12345⟫",
            '{"auth_token": "⟪' + mix(20) + '⟫"}',
            "accessToken: '⟪a1b2c3d4⟫'",
            "token: ⟪" + SHA + "⟫",
            'credentials = "⟪user1:pass2⟫"',
        ),
        (
            "token = get_token()",
            "tokens: 1234",
            '"context_tokens": 123',
            "token: string",
            "token_count=12345678",
            '"token": "identifier"',
            "token=tokens[0]",
            "max_token = 4096",
            'tokenizer = "gpt2-large-774m"',
            '"token": null',
            "token: <your-token-123>",
        ),
    ),
}

ORDINARY = (
    f"commit {SHA}\nAuthor: A B <a@b.org>\nDate: now\n\n    Use the token as a key",
    f'{{"session_id": "{UUID}", "cwd": "/home/me/x", "tool_use_id": "toolu_01{mix(22)}", "input_tokens": 4096}}',
    "def login(user, password, token):\n    return check(user, password)",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "sha256:" + hexa(64),
    "https://example.com/a?b=c#d and me@example.com",
)


def cases() -> list[Case]:
    """Every text with a secret, ready to compare."""
    found: list[Case] = []
    for rule, examples in TABLE.items():
        for text in examples.secrets:
            before, rest = text.split("⟪")
            secret, after = rest.split("⟫")
            found.append(Case(rule, before + secret + after, f"{before}[redacted:{rule}]{after}"))
    return found


def harmless() -> list[tuple[str, str]]:
    """Every text that must stay as it is, with the rule it could fool."""
    return [(rule, text) for rule, examples in TABLE.items() for text in examples.harmless] + [
        ("", text) for text in ORDINARY
    ]
