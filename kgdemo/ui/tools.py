"""What stands before the MCP tools: arguments that do not fit are refused in one sentence.

The protocol's library and gradio check arguments as well, but the one repeats a wrong value whole, however long it is,
and the other speaks of Python's keyword arguments. So the same declaration is read here first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgdemo.ui.metrics import METRICS
from kgdemo.view.escape import visible

_NAME = 60  # characters of a name that a client sends
_LONGEST = 600  # characters of a sentence
_TYPES = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def check_arguments(page: Any) -> None:
    """Put the check before the tools of a page that is served; a page without tools stays as it is.

    Args:
        page: a ``gradio.Blocks`` that has been launched.
    """
    tools = page.mcp_server_obj
    if tools is None:
        return
    from mcp.types import CallToolRequest, CallToolResult, ServerResult, TextContent  # only there with gradio's extra

    handlers = tools.mcp_server.request_handlers
    answer = handlers[CallToolRequest]

    async def checked(request: CallToolRequest) -> Any:
        name, given = request.params.name, request.params.arguments or {}
        if name not in tools.tool_to_endpoint:
            known = ", ".join(tools.tool_to_endpoint)
            refusal = f"There is no tool {visible(name, _NAME)!r}; this server has {known}."
        else:
            refusal = misfit(name, given, tools.get_input_schema(name)[0])
        if not refusal:
            return _in_one_line(await answer(request))
        METRICS.count("kgdemo_refused_total", reason="values")
        return ServerResult(CallToolResult(content=[TextContent(type="text", text=refusal)], isError=True))

    handlers[CallToolRequest] = checked


def misfit(tool: str, given: Mapping[str, Any], declared: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a tool, in one sentence; empty where they fit.

    Args:
        tool: its name.
        given: the arguments by name, any JSON.
        declared: the tool's input as JSON schema, an object of plain values.
    """
    parameters: Mapping[str, Mapping[str, Any]] = declared["properties"]
    takes = f"the tool {tool} takes {', '.join(parameters)}"
    for name in given:
        if name not in parameters:
            return f"There is no parameter {visible(name, _NAME)!r}; {takes}."
    for name in declared.get("required", ()):
        if name not in given:
            return f"The parameter {name} is missing; {takes}."
    for name, value in given.items():
        kind = str(parameters[name].get("type", ""))
        if not _fits(value, kind):
            return f"The parameter {name} has to be {_TYPES[kind]}; {takes}."
    return ""


def _fits(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind not in _TYPES:
        return True  # a list or an object: the endpoint itself looks into it
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()


def _in_one_line(result: Any) -> Any:
    """An error as one line; what gradio puts behind the sentence is for its own client."""
    if result.root.isError:
        for part in result.root.content:
            part.text = visible(next(iter(part.text.strip().splitlines()), "The tool failed; ask again."), _LONGEST)
    return result
