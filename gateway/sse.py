"""Server-sent events, both ways; a line ends at CR, LF or CRLF and nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its data lines joined, and its name where it has one."""

    data: str
    name: str = ""


def encode(event: Event, end: str = "\n") -> bytes:
    """An event as it goes over the wire, with the blank line that ends it."""
    name = [f"event: {event.name}"] if event.name else []
    lines = [*name, *(f"data: {line}" for line in event.data.split("\n")), "", ""]
    return end.join(lines).encode("utf-8", "surrogatepass")


class SseDecoder:
    """Bytes in, in any pieces; whole events out. What a stream that broke left behind comes from `flush`."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._name = b""
        self._after_cr = False
        self._started = False

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        if not data:
            return []
        if self._after_cr and data[0] == 10:
            data = data[1:]  # the second half of a CRLF that was cut in two
        self._after_cr = data.endswith(b"\r")
        first, *others = _LINE_END.split(data)
        self._rest += first
        if not others:
            return []
        lines = [bytes(self._rest), *others]
        self._rest = bytearray(lines.pop())
        return [event for line in lines if (event := self._read(line)) is not None]

    def flush(self) -> list[Event]:
        """The last event, where the stream ended without the blank line after it."""
        last = self._read(bytes(self._rest)) if self._rest else None
        self._rest.clear()
        self._after_cr = False
        ended = [last, self._read(b"")]
        return [event for event in ended if event is not None]

    def _read(self, line: bytes) -> Event | None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ")
        return None

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name = [], b""
        if not data:
            return None
        return Event(b"\n".join(data).decode("utf-8", "replace"), name.decode("utf-8", "replace"))
