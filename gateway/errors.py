"""What can go wrong on the way of a request, and the status it has for the client.

GatewayError
├── BadRequest          400  the body is not what the path takes
├── TooLarge            413  the body is over the limit
├── UnknownModel        404  no upstream serves the model
├── UnknownPath         404  it is neither ours nor the provider's
├── MissingKey          401  the upstream needs a key and nobody gave one
├── UpstreamUnreachable 502  no connection, or none in time
├── UpstreamBroke            the upstream ended in the middle of its answer; too late for a status
├── UpgradeRequired     426  a WebSocket was asked for where there is none
├── UpgradeRefused           the upstream refused a WebSocket; the client gets its status
└── ConfigError              `config.yaml` cannot be used; never reaches a client
"""

from __future__ import annotations

from typing import ClassVar


class NothingToRead(Exception):
    """A request of this form that holds no history: it is passed on as it is."""


class GatewayError(Exception):
    """An error with the words for the client: what is wrong and what to do next."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "api_error"
    code: ClassVar[str | None] = None

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class BadRequest(GatewayError):
    """The body is not what the path takes."""

    status = 400
    type = "invalid_request_error"


class TooLarge(BadRequest):
    """The body is over the limit."""

    status = 413
    code = "request_too_large"


class UnknownModel(BadRequest):
    """No upstream serves the model."""

    status = 404
    code = "model_not_found"


class UnknownPath(BadRequest):
    """It is neither ours nor the provider's."""

    status = 404
    code = "unknown_path"


class MissingKey(GatewayError):
    """The upstream needs a key and nobody gave one."""

    status = 401
    type = "authentication_error"
    code = "invalid_api_key"


class UpstreamUnreachable(GatewayError):
    """No connection to the upstream, or none in time."""

    status = 502
    code = "upstream_unreachable"


class UpstreamBroke(GatewayError):
    """The upstream ended in the middle of its answer."""

    status = 502
    code = "upstream_disconnected"


class UpgradeRequired(BadRequest):
    """A WebSocket was asked for where only HTTP is served."""

    status = 426
    code = "websocket_not_supported"


class UpgradeRefused(GatewayError):
    """The upstream answered a WebSocket's handshake with something else."""

    def __init__(self, message: str, answered: int, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        super().__init__(message)
        self.answered = answered
        self.headers = headers


class ConfigError(GatewayError):
    """`config.yaml` cannot be used."""


def said_by(error: BaseException) -> str:
    """What an error of the system or of a decoder says, without the path: whoever tells of it names that."""
    return str(getattr(error, "strerror", None) or error)
