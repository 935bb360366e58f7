"""What secrets look like: data only, in RE2's syntax over bytes. The group ``secret`` is what goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import re2

Form = Literal["sure", "value", "random", "env", "quoted", "bare", "option"]
"""What must be true of a find, beside its pattern: see `memory.redaction`."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way in which secrets are written."""

    kind: str
    """What is put in the place; "" where the group ``name`` tells."""
    form: Form
    regex: Any


def _compile(pattern: bytes) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(pattern, options)


def _token(kind: str, pattern: bytes) -> Pattern:
    # A token begins where a word does, or behind an escape of JSON inside a text.
    return Pattern(kind, "sure", _compile(rb"(?:\b|\\[nrtbf])(?P<secret>" + pattern + rb")"))


def _find(kind: str, form: Form, pattern: bytes) -> Pattern:
    return Pattern(kind, form, _compile(pattern))


# Between the lines of a key: breaks, quotes, a diff's signs, line numbers with their gutter, the place of a search hit.
_GAP = rb"""(?:[\s"'+,|>:\d-]|\\[nr]|\xe2\x86\x92|\n[^\s:]+:\d+:)*"""

_PEM = (
    rb"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:" + _GAP + rb"(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]*))+"
    rb"(?:" + _GAP + rb"[A-Za-z0-9+/=]{1,64})?"
    rb"(?:" + _GAP + rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)"
)

_PEM_END = rb"(?P<secret>(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])+)+)-----END [A-Z0-9 ]{0,40}PRIVATE KEY"

_VENDORS = (
    rb"gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|tvly-[A-Za-z0-9-]{20,}"
    rb"|dapi[0-9a-f]{32}|do[opr]_v1_[a-f0-9]{40,}|dckr_[a-z]{2,4}_[A-Za-z0-9_-]{20,}|sbp_[a-f0-9]{40}"
    rb"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|hv[sb]\.[A-Za-z0-9_-]{24,}|glsa_[A-Za-z0-9_]{32,}"
    rb"|sntrys_[A-Za-z0-9+/=_-]{20,}|ATATT3[A-Za-z0-9_=-]{20,}|lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}"
    rb"|AGE-SECRET-KEY-1[0-9A-Z]{50,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}"
    rb"|figd_[A-Za-z0-9_-]{30,}|PMAK-[0-9a-f]{24}-?[0-9a-f]{30,}|NRAK-[A-Z0-9]{20,}|rubygems_[0-9a-f]{40,}"
    rb"|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}|pul-[0-9a-f]{40}|pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_-]{30,}"
    rb"|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}"
    rb"|nvapi-[A-Za-z0-9_-]{40,}|tgp_v1_[A-Za-z0-9_-]{30,}|csk-[A-Za-z0-9]{40,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"
    rb"|sb_secret_[A-Za-z0-9_-]{20,}|HRKU-[A-Za-z0-9_-]{30,}|ATBB[A-Za-z0-9]{28,}|ATCTT3[A-Za-z0-9_=-]{20,}"
    rb"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}|lin_oauth_[0-9a-f]{40,}|secret_[A-Za-z0-9]{43}\b|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"
    rb"|[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}|[MNO][A-Za-z0-9]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"
    rb"|key-[0-9a-f]{32}\b|[0-9a-f]{32}-us[0-9]{1,2}\b|AQ\.Ab8[A-Za-z0-9_-]{40,}"
    rb"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}|SK[0-9a-f]{32}\b"
)

NAME = (
    rb"(?:pass(?:word|wd|phrase|code)|[_-]pass|pwd|secrets?|token|credentials?|auth|apikey|(?:api|access|secret|private|account"
    rb"|shared|encryption|signing|master|auth|service|deploy|storage|shared[_-]?access)[_. -]?key(?:[_-]?base)?)(?:[_-]?[0-9]{1,3})?"
)
"""How a name ends whose value is a secret."""

_NAMED = rb"(?P<name>[A-Z0-9_.-]*" + NAME + rb")"
_WORD = rb"""[^\s"'`&;,()\[\]{}<>|\\]+"""
_QUOTED = rb"""(?:\\?["'])(?P<secret>[^"'\\\n]+)"""
_Q = rb"""\\*["']?"""
_CURL = rb"(?i)\bcurl\b(?:[^\n|;]|\\\n)*\s"
"""A call of curl, over several lines, too, up to one of its options."""

PATTERNS = (
    _find("private-key", "sure", _PEM),
    _find("private-key", "sure", _PEM_END),
    _find("private-key", "sure", rb"(?P<secret>LS0tLS1CRUdJTi[A-Za-z0-9+/=]{24,})"),
    _token("api-key", rb"sk-(?:ant|proj|svcacct|admin|or|live|test|lf)-[A-Za-z0-9_-]{12,}"),
    _token("api-key", rb"sk-[A-Za-z0-9]{20,}(?:[_-][A-Za-z0-9]+)*"),
    _token("api-key", rb"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}"),
    _token("github-token", rb"gh[opusr]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
    _token("gitlab-token", rb"gl(?:pat|dt|ft|rt|soat|cbt|ptt|imt|agent|oas)-[A-Za-z0-9_.-]{18,}"),
    _find("aws-secret", "sure", rb"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9/+=]{1,20}(?P<secret>[A-Za-z0-9/+]{40})\b"),
    _token("aws-key", rb"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _token("google-key", rb"AIza[A-Za-z0-9_-]{30,}"),
    _token("slack-token", rb"xox[abcdeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    _find("webhook", "sure", rb"hooks\.slack(?:-gov)?\.com/[a-z]+/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    _find("webhook", "sure", rb"discord(?:app)?\.com/api/webhooks/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    _token("npm-token", rb"npm_[A-Za-z0-9]{24,}"),
    _token("pypi-token", rb"pypi-(?:AgE[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{60,})"),
    _token("hf-token", rb"hf_[A-Za-z0-9]{24,}"),
    _token("jwt", rb"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)+"),
    _token("api-key", _VENDORS),
    _find("api-key", "sure", rb"/bot(?P<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    _find("signature", "sure", rb"(?i)[?&;](?:x-(?:amz|goog)-)?sig(?:nature)?=(?P<secret>[A-Za-z0-9%/+=_-]{20,})"),
    _find(
        "authorization",
        "value",
        rb"(?i)\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?:bearer|basic|token|digest|apikey)\s+(?P<secret>[A-Za-z0-9._~+/=:-]{6,})",
    ),
    _find(
        "authorization",
        "random",
        rb"(?i)\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?P<secret>[A-Za-z0-9._~+/=:-]{8,})",
    ),
    _find("authorization", "random", rb"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})"),
    _find("cookie", "sure", rb"(?i)\bcookie\\?[\"']?: ?\\?[\"']?(?P<secret>[A-Za-z0-9_.-]+=[^\n\"'\\]+)"),
    _find("url-password", "value", rb"://[^\s/:@\"'<>`\[]*:(?P<secret>[^\s/@\"'<>`]+)@"),
    _find("url-password", "sure", rb"://(?P<secret>[A-Za-z0-9_-]{30,})@"),
    _find("cookie", "sure", _CURL + rb"(?:-b|--cookie)[ =]?[\"']?(?P<secret>[A-Za-z0-9_.-]+=[^\s\"'\\]+)"),
    _find("password", "value", _CURL + rb"(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?P<secret>[^\s\"']+)"),
    _find("password", "value", rb"(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<secret>\S+)"),
    _find("password", "value", rb"\bdocker\s+login\b[^\n|;]*\s(?:-p|--password)[ =][\"']?(?P<secret>[^\s\"']+)"),
    _find("password", "value", rb"\bredis-cli\b[^\n|;]*\s(?:-a|--pass)[ =][\"']?(?P<secret>[^\s\"']+)"),
    _find("password", "value", rb"(?i)\b(?:password|identified\s+by)\s+\\*'(?P<secret>[^'\\\n]+)'"),
    _find("password", "value", rb"\bsshpass\s+-p\s*[\"']?(?P<secret>[^\s\"']+)"),
    _find("password", "value", rb"\b(?:mysql\w*|mariadb)\s[^\n|;]*\s-p(?P<secret>[^\s\"'-][^\s\"']*)"),
    _find("", "env", rb"(?:\b|\\[nrt])(?P<name>[A-Z0-9_]*" + NAME.upper() + rb")=(?P<secret>[^\s\"'`\\]+)"),
    _find("", "env", rb"(?:\b|\\[nrt])(?P<name>[A-Z0-9_]*(?:_PAT|_PW|FERNET_KEY|APP_KEY))=(?P<secret>[^\s\"'`\\]+)"),
    _find(
        "",
        "random",
        rb"(?i)\bname"
        + _Q
        + rb"\s*[:=]\s*"
        + _Q
        + _NAMED
        + _Q
        + rb"(?:[\s,]|\\[nrt])+"
        + _Q
        + rb"value"
        + _Q
        + rb"\s*[:=]\s*"
        + _Q
        + rb"(?P<secret>"
        + _WORD
        + rb")",
    ),
    _find("", "quoted", rb"(?i)" + _NAMED + rb"\\?[\"'`]?\]?\s*(?:=>|:=|[:=])\s*[bfru]{0,2}" + _QUOTED),
    _find("", "random", rb"(?i)" + _NAMED + rb"\\?[\"']\s*,\s*" + _QUOTED),
    _find("", "bare", rb"(?i)" + _NAMED + rb"(?P<sep>[ \t]*[:=][ \t]*)(?P<secret>" + _WORD + rb")(?P<next>.?)"),
    _find("", "option", rb"(?i)\s--?" + _NAMED + rb"[ =](?P<secret>" + _WORD + rb")"),
    _find("", "random", rb"(?i)\b(?P<name>" + NAME + rb") is:?\s+[\"'`]?(?P<secret>" + _WORD + rb")"),
    _find("", "quoted", rb"(?i)<" + _NAMED + rb">(?P<secret>[^<\s]+)</"),
)
"""In the order in which they are applied: those whose form alone tells come first."""

TRIGGER = _compile(
    rb"(?i)pass|pwd|secret|token|credential|auth|key|://|sk-|[srp]k_|whsec_|gh[opusr]_|github_|gl[a-z]+-|a[ksbc][ic]a|aiza|xox|xapp-"
    rb"|hooks\.|webhooks|npm_|pypi-|hf_|eyj|ls0t|gsk_|xai-|pplx-|r8_|tvly-|dapi|_v1_|dckr_|sbp_|shp|hv[sb]\.|glsa_|sntrys_|atatt"
    rb"|lin_api_|ntn_|gocspx-|ya29\.|sg\.|:aa|sk[0-9a-f]{4}|bearer|basic|cookie|curl|mysql|mariadb|login"
    rb"|_pat=|_pw=|nvapi-|csk-|lsv2_|hrku-|atbb|atctt|\.atlasv1\.|pat[a-z0-9]{14}\.|8q~|\.[a-z0-9_-]{6}\.[a-z0-9_-]{27}|-us[0-9]|aq\.ab8|redis-|identified"
    rb"|figd_|pmak-|nrak-|rubygems_|dp\.[acps]|pul-[0-9a-f]{4}|pscale_|sq0[aci]|sig=|signature="
)
"""Without a match of this there is none of `PATTERNS`: a quick way past most texts."""
