"""A private authority, and a server for 127.0.0.1, localhost and upstream.test that it vouches for: for tests, and worthless."""

from __future__ import annotations

import ssl
from pathlib import Path

AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBqDCCAU+gAwIBAgIUMrU9HjjDkAueaanqOiZtbmGf8powCgYIKoZIzj0EAwIw
ITEfMB0GA1UEAwwWYXV0aG9yaXR5IG9mIHRoZSB0ZXN0czAgFw0yNjEyMDEwNTEz
MDJaGA8yMTI2MTEwNzA1MTMwMlowITEfMB0GA1UEAwwWYXV0aG9yaXR5IG9mIHRo
ZSB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPu8OQgIu5r+QSuDeUOW
g/p1bP/0KgeZOHyp3gbmQLhOvoae2JGQiMj5L7lU3p1kTedCE6hrUkJitao2ga5H
hhejYzBhMB0GA1UdDgQWBBQ9CZNNQkstN0+1FMv4nG/KNeMk4zAfBgNVHSMEGDAW
gBQ9CZNNQkstN0+1FMv4nG/KNeMk4zAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB
/wQEAwIBBjAKBggqhkjOPQQDAgNHADBEAiAj6zDIP+Qobq1wCIGCYYuYRK8LDoxE
ssd3FKnFw+t1DwIgWGXYKgOXtjDkb9yaFy7I6RMGfh54cdOjEM1zHlRq+SY=
-----END CERTIFICATE-----
"""

_SERVER = """\
-----BEGIN CERTIFICATE-----
MIIB3DCCAYKgAwIBAgIUfhnr5MeC2nlrNRmwtgOOcARIr4kwCgYIKoZIzj0EAwIw
ITEfMB0GA1UEAwwWYXV0aG9yaXR5IG9mIHRoZSB0ZXN0czAgFw0yNjEyMDEwNTEz
MDJaGA8yMTI2MTEwNzA1MTMwMlowGDEWMBQGA1UEAwwNdXBzdHJlYW0udGVzdDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABPG4G3Le6kzw6EVyMoNFfZ9dAiKrta5Y
QkfXghT5Znq+QirdeQYQMPKRJPgHmJEZKjurOqHfPobzuzKzxtCBxfmjgZ4wgZsw
KQYDVR0RBCIwIIINdXBzdHJlYW0udGVzdIIJbG9jYWxob3N0hwR/AAABMAkGA1Ud
EwQCMAAwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB8GA1Ud
IwQYMBaAFD0Jk01CSy03T7UUy/icb8o14yTjMB0GA1UdDgQWBBSo0fu4LyxyeODf
K+K92fEC+Zx9AjAKBggqhkjOPQQDAgNIADBFAiEAq8KxU7Bs13khdmTAJDG3i/AY
GhUzeakSnF5CXHiWZO0CIEaWzv26ccgcZFlmWErmrBKhQqSXUEWOFHl7olqZfrOF
-----END CERTIFICATE-----
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIDqEntDpNX8S5SCdJUlQbPte/K1tjqRXWAIynMgd+6ACoAoGCCqGSM49
AwEHoUQDQgAE8bgbct7qTPDoRXIyg0V9n10CIqu1rlhCR9eCFPlmer5CKt15BhAw
8pEk+AeYkRkqO6s6od8+hvO7MrPG0IHF+Q==
-----END EC PRIVATE KEY-----
"""


def serving_tls(folder: Path) -> ssl.SSLContext:
    """What a server of that authority speaks TLS with; its files go to `folder`."""
    file = folder / "server.pem"
    file.write_text(_SERVER, encoding="ascii")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
