"""The memory over the Model Context Protocol: four tools that read, and nothing that writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer

from gateway.remembering.memories import Memory
from gateway.remembering.memory_server import PAGE, server
from tests.commandline import environment
from tests.gateway.remembered import GOING, NAME, OLD, remember


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with memories."""
    return remember(tmp_path / "data").root


@pytest.fixture
def made(data: Path) -> MCPServer[None]:
    """The server, in this process."""
    return server(Memory(data))


async def call(made: Any, tool: str, **arguments: Any) -> tuple[str, bool]:
    """What a tool says to a client, and whether that is an error."""
    async with Client(made) as client:
        result = await client.call_tool(tool, arguments)
    return "".join(part.text for part in result.content if part.type == "text"), bool(result.is_error)


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        pytest.param("search_history", {"words": "a", "since": "soon"}, "soon", id="a date that is none"),
        pytest.param("search_history", {"words": "a", "limit": 0}, "limit", id="a limit that is none"),
        pytest.param("read_session", {"session": "nix"}, "no session is called 'nix'", id="an unknown session"),
        pytest.param("read_fact", {"fact": "nix"}, "no fact has the id nix", id="an unknown fact"),
        pytest.param("read_sop", {"name": "nix"}, "there is no procedure nix", id="an unknown procedure"),
        pytest.param("read_sop", {"name": "../../x"}, "no name of a procedure", id="a path"),
    ],
)
async def test_refusals(made: MCPServer[None], tool: str, arguments: dict[str, Any], why: str) -> None:
    """A model is told what is wrong."""
    said, is_error = await call(made, tool, **arguments)
    assert is_error
    assert why in said


async def test_all_tools_only_read(made: MCPServer[None], data: Path) -> None:
    """They say so, and no file of the levels is another one afterwards."""
    before = {path: path.read_bytes() for path in (data / "memory").glob("*") if path.is_file()}
    async with Client(made) as client:
        tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == ["read_fact", "read_session", "read_sop", "search_history"]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)
    for tool, arguments in (
        ("search_history", {"words": "needle"}),
        ("read_session", {"session": OLD}),
        ("read_sop", {}),
    ):
        assert not (await call(made, tool, **arguments))[1]
    assert {path: path.read_bytes() for path in (data / "memory").glob("*") if path.is_file()} == before


async def test_search(made: MCPServer[None]) -> None:
    """What is found names its message."""
    said, _ = await call(made, "search_history", words="数据库")
    assert json.loads(said)["pointer"] == f"L4:{NAME}#0"


async def test_read_session(made: MCPServer[None]) -> None:
    """Message by message, with what rests on it; a long one in pages that leave nothing out."""
    said, _ = await call(made, "read_session", session=OLD)
    assert said.startswith(f"session {OLD}, 2026-05-01T01:47:40+00:00 to")
    assert "cited by: L1:shop, L2:" in said
    assert f"[L4:{NAME}#0 user]\nWhere is the 数据库?" in said
    first, _ = await call(made, "read_session", session=GOING)
    assert first.endswith("1 more messages: read on with first=2")
    rest, _ = await call(made, "read_session", session=GOING, first=2)
    assert len(rest) > PAGE
    assert "needle three" in rest


async def test_read_fact_and_sop(made: MCPServer[None]) -> None:
    """One, or the list of all."""
    facts, _ = await call(made, "read_fact")
    id_, _, fact = facts.partition(" ")
    assert fact == "[PLACES] the shop keeps its data in one file"
    assert (await call(made, "read_fact", fact=id_))[0] == facts
    assert (await call(made, "read_sop"))[0] == "L3:mend_shop  the shop is down"
    assert (await call(made, "read_sop", name="L3:mend_shop"))[0].endswith("1. Look at the log.\n")


async def test_it_is_started_by_a_command(data: Path) -> None:
    """As clients start it: over standard input and output."""
    words = ["-m", "gateway", "memory", "mcp", "--data", str(data)]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=environment())
    said, is_error = await call(stdio_client(parameters), "read_sop", name="mend_shop")
    assert (said.endswith("1. Look at the log.\n"), is_error) == (True, False)
