"""The four endpoints as tools of the Model Context Protocol, by the protocol's own client."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


def in_a_loop_of_its_own(talk: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """What a coroutine returns; browser tests before may have left a loop running in this thread."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, talk()).result()


def by_client(address: str, tool: str, given: dict[str, str]) -> tuple[dict[str, str], dict]:
    """Names and descriptions of the tools, and what one of them answers."""

    async def talk() -> tuple[dict[str, str], dict]:
        async with (
            streamable_http_client(f"{address}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            offered = {one.name: one.description or "" for one in (await session.list_tools()).tools}
            answer = await session.call_tool(tool, given)
            return offered, ast.literal_eval(answer.content[0].text)

    return in_a_loop_of_its_own(talk)


def test_the_tools_are_the_four_endpoints_and_answer(address: str):
    wrong = {"path": "Inception -> directed by -> Nobody", "graph": "world"}
    offered, judged = by_client(address, "verify_path", wrong)
    names = {name.split("_", 1)[-1] if name.startswith("kgdemo_") else name for name in offered}
    assert names == {"ask", "paths", "verify_path", "link"}
    assert all(len(description) > 30 for description in offered.values())
    assert judged["faithful"] is False
    assert judged["hops"][0]["verdict"] == "unknown entity"
