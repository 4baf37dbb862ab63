"""The tools and the slash commands as an MCP server: what is listed, and how a call is run.

The arguments are checked by us, before and instead of the SDK, which lets unknown keys through and takes "7" for 7
(decisions.md 21). Calls run in threads; a call that is cancelled raises the flag of its run, and an index run that
takes long is answered as a job that goes on while the client is there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recall import __version__
from recall.prompts import capability
from recall.run import Cancellation, Progress
from recall.settings import Settings
from recall.surfaces import mcp_prompts, tool_calls
from recall.surfaces.answering import Answered, Asked
from recall.surfaces.arguments import printable
from recall.surfaces.job_calls import PATIENCE, Jobs
from recall.surfaces.progress import Pace
from recall.surfaces.tools import TOOLS, Tool

NAME = "history-recall"
AT_ONCE = 8
# What a host can say of the caller in the `_meta` of a request.
CALLER = {"history-recall/current": "current", "history-recall/cwd": "cwd"}
T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
Report = Callable[[Progress], None]


class McpServer:
    """One client's server. A context manager: at its end what is tied to the client has ended.

    Without `prompts` it offers none: a host that has the slash command from us already would rename both. Without
    `documents` an answer is its text alone: a host that has both shows its model the document, which is three times as
    long and made for programs.
    """

    def __init__(self, settings: Settings, *, prompts: bool = True, documents: bool = True) -> None:
        # A host that says nothing of the folder starts its servers in it.
        self._defaults = {"cwd": os.getcwd(), **settings.as_overrides()}
        self._disabled = settings.disabled
        self._documents = documents
        self._jobs = Jobs()
        self._pool = ThreadPoolExecutor(AT_ONCE, "call")
        self._open: set[Cancellation] = set()
        self.server: Server[Any] = Server(
            NAME,
            version=__version__,
            title="history-recall",
            instructions=None if settings.disabled else capability(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts if prompts else None,
            on_get_prompt=self._get_prompt if prompts else None,
        )

    def __enter__(self) -> McpServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for cancellation in list(self._open):
            cancellation.cancel()
        self._jobs.close()
        self._pool.shutdown(cancel_futures=True)

    async def _list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[] if self._disabled else [_described(tool, documents=self._documents) for tool in TOOLS]
        )

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if self._disabled:
            raise _disabled()
        caller = self._caller(context)

        def work(report: Report, cancellation: Cancellation) -> tool_calls.ToolAnswer:
            return tool_calls.call(params.name, params.arguments or {}, caller, report, cancellation, self._perform)

        answered = await self._run(context, work)
        document = printable(dict(answered.document)) if self._documents else None
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=str(printable(answered.text)))],
            structured_content=document if isinstance(document, dict) else None,
            is_error=answered.is_error,
        )

    async def _list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[] if self._disabled else mcp_prompts.listed())

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if self._disabled:
            raise _disabled()
        arguments, caller = params.arguments or {}, self._caller(context)

        def work(report: Report, cancellation: Cancellation) -> types.GetPromptResult:
            return mcp_prompts.get(params.name, arguments, caller, report, cancellation, self._perform)

        return await self._run(context, work)

    def _perform(self, asked: Asked, report: Report, cancellation: Cancellation) -> Answered:
        return self._jobs.perform(asked, report, cancellation, PATIENCE)

    def _caller(self, context: Context) -> Mapping[str, str]:
        meta: Mapping[str, Any] = context.meta or {}
        said = {name: meta[key] for key, name in CALLER.items() if isinstance(meta.get(key), str)}
        return {**self._defaults, **said}

    async def _run(self, context: Context, work: Callable[[Report, Cancellation], T]) -> T:
        """Run the work in a thread, passing its progress on. Where the call is cancelled, so is the work."""
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[Progress] = asyncio.Queue()
        pace, cancellation = Pace(), Cancellation()

        def report(progress: Progress) -> None:
            if pace.is_due(progress) and not loop.is_closed():
                loop.call_soon_threadsafe(steps.put_nowait, progress)

        self._open.add(cancellation)
        teller = asyncio.create_task(_tell(context, steps))
        try:
            return await loop.run_in_executor(self._pool, work, report, cancellation)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise
        finally:
            self._open.discard(cancellation)
            teller.cancel()


async def _tell(context: Context, steps: asyncio.Queue[Progress]) -> None:
    """Pass progress on. The protocol wants a number that goes up, so it counts steps; the message says how far."""
    count = 0
    while True:
        progress = await steps.get()
        count += 1
        of = f" {progress.done} of {progress.total}" if progress.total else ""
        await context.session.report_progress(count, None, f"{progress.stage}{of}: {progress.source}")


def _described(tool: Tool, *, documents: bool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input,
        output_schema=dict(tool.output) if documents else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _disabled() -> MCPError:
    return MCPError(types.METHOD_NOT_FOUND, "HISTORY_RECALL_DISABLED is set: nothing is registered")
