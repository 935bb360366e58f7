"""A data folder in which agents talk: what they say is recorded in the archive and in raw logs, as the gateway does it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory import Archive, ExchangeRecord, Message, batch_process, message_hash
from memory.L4_raw_sessions.places import Places
from memory.rawlog import RawLog
from memory.roots import raw_folder, root_of

MAY = 1777600000.0
"""2026-05-01 01:46:40 UTC."""

DAY = 86_400.0


class Talks:
    """One data folder."""

    def __init__(self, root: Path, tenant: str = "first") -> None:
        self.root = root
        self.tenant = tenant
        self.now = MAY
        self.count = 0
        self._tips: dict[str, str] = {}
        self._touched: dict[Path, float] = {}
        root.mkdir(parents=True, exist_ok=True)
        self._log = RawLog(root)

    @property
    def l4(self) -> Path:
        """Where the sessions of the first tenant are archived."""
        return self.root / "memory" / "L4_raw_sessions"

    @property
    def places(self) -> Places:
        """The same."""
        return Places(self.l4)

    def say(
        self, session: str, *said: str | dict[str, Any], answer: Any = "well", model: str = "small"
    ) -> ExchangeRecord:
        """One exchange: what is new in the request, and what is answered."""
        messages = []
        for one in said:
            message = one if isinstance(one, dict) else {"role": "user", "content": one}
            messages.append(self._message(session, message))
        told = answer if isinstance(answer, dict) else {"role": "assistant", "content": answer}
        tip = messages[-1].hash
        reply = self._message(session, told) if answer is not None else None
        self.count += 1
        self.now += 60.0
        record = ExchangeRecord(
            id=f"request-{self.count}",
            session=session,
            parent_session=None,
            tenant=self.tenant,
            started=self.now,
            first_byte=None,
            ended=self.now + 5.0,
            method="POST",
            path="/v1/chat/completions",
            shape="chat_completions",
            upstream="main",
            model=model,
            stream=False,
            retry=False,
            status=200,
            outcome="completed",
            error=None,
            tip=tip,
            messages=tuple(messages),
            head=b"{}",
            reply=reply,
            reported=None,
            accounts={},
            kept={},
        )
        self.record(record)
        return record

    def record(self, record: ExchangeRecord) -> None:
        """Into the archive and into the raw log."""
        self.ask(lambda archive: archive.append([record]))
        self._log.append([record])
        self._touched[self._log.path(record.tenant, record.session)] = record.ended

    def ask(self, question: Callable[[Archive], Any]) -> Any:
        """Open the archive and ask it."""

        async def answer() -> Any:
            archive = await Archive.open(self.root)
            try:
                return await question(archive)
            finally:
                await archive.aclose()

        return asyncio.run(answer())

    def archive(self, *, dry_run: bool = False, later: float = DAY) -> dict[str, Any]:
        """Everything that was said so far goes into zips."""
        raw, now = raw_folder(root_of(self.root, self.tenant)), self.now + later
        for path, time in self._touched.items():
            if path.exists():
                os.utime(path, (time, time))
        self.now = now
        return batch_process(raw, dry_run=dry_run, clock=lambda: now)

    def files(self) -> dict[str, bytes]:
        """All files with their contents."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}

    def _message(self, session: str, message: dict[str, Any]) -> Message:
        content = json.dumps(message).encode()
        parent = self._tips.get(session)
        hash_ = message_hash(parent, content)
        self._tips[session] = hash_
        return Message(hash=hash_, parent=parent, role=str(message.get("role", "user")), content=content)
