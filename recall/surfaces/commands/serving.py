"""The commands that serve programs on standard input and output."""

from __future__ import annotations

from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _mcp(session: Session, arguments: Arguments) -> Answer:
    from recall.surfaces.mcp_stdio import serve  # it runs the operations of this table

    prompts, documents = not arguments.get("no_prompts"), not arguments.get("text")
    serve(session.settings, session.cancellation, prompts=prompts, documents=documents)
    return {}


def _serve(session: Session, _arguments: Arguments) -> Answer:
    from recall.surfaces.serve import Server  # it runs the operations of this table
    from recall.surfaces.wire import Wire, standard_streams

    with standard_streams() as (incoming, outgoing):
        server = Server(Wire(incoming, outgoing), session.settings)
        session.cancellation.listen(server.stop)
        server.run()
    return {}


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "mcp",
        "Serve the tools over MCP on standard input and output (docs/tools.md).",
        _mcp,
        (
            Parameter("no_prompts", "Offer no prompts: for a host that has the slash command already.", "flag"),
            Parameter("text", "Answer with text alone: for a host that shows its model the document instead.", "flag"),
        ),
        on_stdio=True,
    ),
    Operation(
        "serve",
        "Serve a host package over standard input and output (docs/serve.md).",
        _serve,
        on_stdio=True,
    ),
)
