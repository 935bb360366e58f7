"""The network as this machine's environment has it: the proxy to a URL, whom to trust, how a connection stays alive.

An agent that is sent to the gateway leaves all of this to it: what it would have heeded itself is heeded here.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE")
"""Variables with certificates to trust besides the system's, as agents of all kinds read them."""
_SPOKEN = ("http://", "https://")
_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPALIVE": 60, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 5}


def is_here(host: str) -> bool:
    """Whether a name or an address, as it stands in a URL, is this machine's own."""
    name = host.lower().rstrip(".")
    with suppress(ValueError):
        address = ip_address(name.strip("[]"))
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    return name == "localhost" or name.endswith(".localhost")


def proxy_to(url: str) -> str | None:
    """The proxy that leads to a URL, by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; never one to this machine."""
    proxy = _named_proxy(url)
    return proxy if proxy.startswith(_SPOKEN) else None


def unspoken_proxy(url: str) -> str | None:
    """The kind of the proxy to a URL that is passed over, since the gateway does not speak to such: `socks5`."""
    proxy = _named_proxy(url)
    return None if not proxy or proxy.startswith(_SPOKEN) else proxy.partition("://")[0]


def _named_proxy(url: str) -> str:
    at = urlsplit(url)
    if is_here(at.hostname or "") or proxy_bypass(at.netloc.rpartition("@")[2]):
        return ""
    proxies = getproxies_environment()
    proxy = proxies.get(at.scheme) or proxies.get("all") or ""
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def direct(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which a program does not go to this machine by way of a proxy; none where it has no proxy."""
    if not any(
        name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name, value in environment.items() if value
    ):
        return {}
    said = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    listed = [name.strip() for name in said.split(",") if name.strip()]
    if "*" in listed:
        return {}
    ours = (name for name in ("127.0.0.1", "localhost", "::1") if name not in listed)
    told = ",".join([*listed, *ours])
    return {"NO_PROXY": told, "no_proxy": told}


def trusted() -> ssl.SSLContext:
    """Whom to trust: the system's authorities, and those that the environment names. A file that cannot be read is
    passed over, as agents do: the next connection tells what is missing."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    for name in AUTHORITIES:
        path = os.environ.get(name)
        if path:
            with suppress(OSError):
                context.load_verify_locations(**{"capath" if Path(path).is_dir() else "cafile": path})
    return context


def open_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket whose peer is asked whether it is alive: models think for longer than networks remember a connection."""
    family, kind, protocol, *_ = address
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE.items():
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened
