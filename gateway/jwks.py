"""Public keys of an issuer, by address, kept for a while."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import jwt

from agents.errors import Unavailable
from gateway.errors import Unauthenticated
from gateway.tokens import Key

KEEP_S = 600.0
"""Keys are fetched anew after this long."""
PAUSE_S = 30.0
"""At most one fetch in this time, however many unknown keys are asked for."""
TIMEOUT_S = 5.0
ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}


class JwksKeys:
    """RS256 and ES256 keys. Unknown ones are looked for once more; if the issuer is away the old ones stay."""

    def __init__(self, url: str, client: httpx.AsyncClient, *, monotonic: Callable[[], float]) -> None:
        self._url = url
        self._client = client
        self._monotonic = monotonic
        self._keys: dict[tuple[str, str | None], Key] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetching = asyncio.Lock()

    async def key_for(self, header: Mapping[str, Any]) -> tuple[Key, str]:
        algorithm, name = str(header.get("alg")), header.get("kid")
        if algorithm not in ALGORITHMS.values():
            raise Unauthenticated
        if self._older_than(self._fetched_at, KEEP_S) or self._found(algorithm, name) is None:
            await self._fetch()
        key = self._found(algorithm, name)
        if key is None:
            raise Unauthenticated if self._fetched_at is not None else Unavailable
        return key, algorithm

    def _found(self, algorithm: str, name: str | None) -> Key | None:
        if name is not None:
            return self._keys.get((algorithm, name))
        fitting = [key for (kind, _), key in self._keys.items() if kind == algorithm]
        return fitting[0] if len(fitting) == 1 else None

    def _older_than(self, moment: float | None, seconds: float) -> bool:
        return moment is None or self._monotonic() - moment > seconds

    async def _fetch(self) -> None:
        async with self._fetching:
            if not self._older_than(self._tried_at, PAUSE_S):
                return
            self._tried_at = self._monotonic()
            try:
                response = await self._client.get(self._url, timeout=TIMEOUT_S)
                response.raise_for_status()
                self._keys = _read_keys(response.json())
                self._fetched_at = self._monotonic()
            except (httpx.HTTPError, ValueError, KeyError, TypeError, jwt.PyJWTError):
                # The old keys stay; the next request tries again after the pause.
                return


def _read_keys(document: Any) -> dict[tuple[str, str | None], Key]:
    keys: dict[tuple[str, str | None], Key] = {}
    for entry in document["keys"]:
        algorithm = ALGORITHMS.get(entry.get("kty"))
        if algorithm is None or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
            continue
        if algorithm == "ES256" and entry.get("crv") != "P-256":
            continue
        keys[(algorithm, entry.get("kid"))] = jwt.PyJWK.from_dict(entry, algorithm).key
    return keys
