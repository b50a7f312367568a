"""Which page a request comes from, and by which name the server was called. Checked before anything else."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import CrossSite, WrongHost

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
DEFAULT_PORTS = {"http": 80, "https": 443}


class OwnOrigin:
    """Refuses unsafe requests from pages that aren't ours, whatever their kind and whoever is signed in.

    A browser always says where such a request comes from; other clients say nothing and may. `local` also demands
    that the server is called by a name of this machine, so that no other name can be made to point at it.
    """

    def __init__(self, app: ASGIApp, *, local: bool) -> None:
        self.app = app
        self.local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if self.local and not is_loopback_host(headers.get("host", "")):
                raise WrongHost
            if scope["method"] not in SAFE_METHODS and not is_own(headers, scope["scheme"]):
                raise CrossSite
        await self.app(scope, receive, send)


def is_own(headers: Headers, scheme: str) -> bool:
    """Whether a request comes from a page of this server, or from no page at all."""
    if headers.get("sec-fetch-site", "none").lower() not in ("same-origin", "none"):
        return False
    origins = headers.getlist("origin")
    return all(_same_place(origin, headers.get("host", ""), scheme) for origin in origins)


def is_loopback_host(host: str) -> bool:
    """Whether a `Host` header names this machine: localhost, 127.0.0.0/8 or ::1, with any port."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or name.endswith(".localhost") or ip_address(name).is_loopback
    except ValueError:
        return False


def _same_place(origin: str, host: str, scheme: str) -> bool:
    try:
        page, here = urlsplit(origin), urlsplit(f"//{host}")
        default = DEFAULT_PORTS.get(page.scheme)
        same = page.hostname == here.hostname and (page.port or default) == (here.port or default)
    except ValueError:
        return False
    # A proxy may have taken the TLS off, so http here says nothing; but https here means that http isn't us.
    return (
        same and default is not None and page.hostname is not None and not (scheme == "https" and page.scheme == "http")
    )
