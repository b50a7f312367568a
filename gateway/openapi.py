"""The OpenAPI document: every route with every error it can answer, and nothing that isn't so."""

from typing import Any

from fastapi import FastAPI


def describe(app: FastAPI) -> None:
    """Let the app describe itself without FastAPI's own form of a 422, which no route answers."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        document = plain()
        schemas: dict[str, Any] = document.get("components", {}).get("schemas", {})
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = described
