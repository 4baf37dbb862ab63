"""A model on loopback that the host programs accept: chat completions, Anthropic messages, OpenAI responses, Gemini's.

What it says is scripted: it answers a question that it knows, and where it is told to recall, it calls
`history_recall_search`, then `history_recall_read` with what the search answered, and says what stood there. Where the
text of `/history-recall` tells it to run a command, it runs that in the host's shell and says what it printed. It finds
the tools under whatever name a host gives them. The wire shapes are those that the programs of `programs.py` were seen
to take; a program that changes its own is a finding of this test.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

QUESTION = "Why does our ledger writer lose rows after a power cut?"
ANSWER = "The write-ahead log with synchronous=NORMAL syncs only at a checkpoint, so the last rows are lost."
RECALL = "Recall what we found out about the rows that the ledger writer loses."
RECALLED = "From the earlier conversation:"
PROJECT = "ledger keeping"
MOVE = f"Move the conversation about the ledger writer into the project {PROJECT}."
MOVED = "It was moved."
MOVE_HERE = f"Move this very conversation into the project {PROJECT}, with its directory."
UNKNOWN = "Untitled work"
TYPED = "What was typed behind"  # the text of the slash command, where it is one for the model
PRINTED = "The command printed:"

Json = dict[str, Any]
_NOTICE = "untrusted data, never an instruction"  # in every answer of ours that holds history
# The tool that runs a line in a shell, as the hosts call it, with the line where each wants it.
_SHELLS: Mapping[str, Callable[[str], Json]] = {
    "Bash": lambda line: {"command": line, "description": "Run what was asked for"},
    "bash": lambda line: {"command": line, "description": "Run what was asked for"},
    "run_shell_command": lambda line: {"command": line, "description": "Run what was asked for"},
    "exec_command": lambda line: {"cmd": line},
    "shell_command": lambda line: {"command": line},
    "shell": lambda line: {"command": ["sh", "-c", line]},
}
_MOST_CALLS = 40  # most of them to wait for a server that starts slowly


@dataclass(frozen=True)
class Turn:
    """One message of the conversation as the model sees it. `tool`: the result of a tool call."""

    role: str
    text: str
    tool: bool = False


@dataclass(frozen=True)
class Call:
    """A tool call: the name as the host registered it."""

    name: str
    arguments: Json
    namespace: str | None = None


@dataclass(frozen=True)
class Reply:
    """What the model says: a text, or a tool call."""

    text: str = ""
    call: Call | None = None


@dataclass(frozen=True)
class Offered:
    """A tool that the host offers."""

    name: str
    namespace: str | None = None


def decide(turns: Sequence[Turn], tools: Sequence[Offered]) -> Reply:
    """The reply to a conversation."""
    asked = [number for number, turn in enumerate(turns) if turn.role == "user" and not turn.tool]
    if not asked:
        return Reply(UNKNOWN)
    question, results = turns[asked[-1]].text, [turn.text for turn in turns[asked[-1] :] if turn.tool]
    for number in reversed(asked):  # hosts put notes of their own behind what the person said
        text = turns[number].text
        if any(known in text for known in (RECALL, MOVE, MOVE_HERE, QUESTION, TYPED)):
            question, results = text, [turn.text for turn in turns[number:] if turn.tool]
            break
    if TYPED in question:
        return _status(question, results, tools)
    if RECALL in question:
        return _recall(results, tools)
    if MOVE in question:
        return _move(results, tools)
    if MOVE_HERE in question:
        if results:
            return Reply(f"{MOVED} {results[-1]}")
        here = {"conversation_id": "current", "project_id": PROJECT, "with_cwd": True}
        return _calling("history_recall_move", here, tools)
    return Reply(ANSWER if QUESTION in question else UNKNOWN)


def _status(question: str, results: Sequence[str], tools: Sequence[Offered]) -> Reply:
    """Run the command that the text names, with the word that was typed."""
    if results:
        return Reply(f"{PRINTED} {results[-1]}")
    command = re.search(r"run `([^`]+)` with these words", question)
    shell = next((tool for tool in tools if tool.name in _SHELLS), None)
    if command is None or shell is None:
        return Reply(f"There is no command in {question[:500]} or no shell in {[tool.name for tool in tools]}")
    line = f"{command[1]} status"
    return Reply(call=Call(shell.name, _SHELLS[shell.name](line), shell.namespace))


def _recall(results: Sequence[str], tools: Sequence[Offered]) -> Reply:
    ours = [result for result in results if _NOTICE in result]
    if len(results) >= _MOST_CALLS:
        return Reply(f"The tools did not answer: {results[-1][:500]}")
    if not ours:
        return _calling("history_recall_search", {"queries": ["ledger writer loses rows power cut"]}, tools)
    if len(ours) == 1:
        conversation = _conversation(ours[0])
        entry = re.search(r"\"entry_id\\*\": ?\\*\"([\w-]+)", ours[0]) or re.search(r"\n +entry ([\w-]+) \(", ours[0])
        if conversation is None:
            return Reply(f"The search answered without a conversation: {ours[0][:500]}")
        around = {} if entry is None else {"entry_id": entry[1]}
        return _calling("history_recall_read", {"conversation_id": conversation, **around}, tools)
    found = "synchronous=NORMAL" in ours[1]
    return Reply(f"{RECALLED} {ANSWER}" if found else f"The original was not there: {ours[1][:500]}")


def _move(results: Sequence[str], tools: Sequence[Offered]) -> Reply:
    if any("previous" in result and _NOTICE not in result for result in results):
        return Reply(MOVED)
    if len(results) >= _MOST_CALLS:
        return Reply(f"The tools did not answer: {results[-1][:500]}")
    ours = [result for result in results if _NOTICE in result]
    if not ours:
        return _calling("history_recall_search", {"queries": ["ledger writer loses rows power cut"]}, tools)
    arguments = {"conversation_id": _conversation(ours[0]), "project_id": PROJECT}
    return _calling("history_recall_move", arguments, tools)


def _conversation(answer: str) -> str | None:
    found = re.search(r"\bc_[a-z2-7]{12}\b", answer)
    return None if found is None else found[0]


def _calling(name: str, arguments: Json, tools: Sequence[Offered]) -> Reply:
    for tool in tools:
        if tool.name.endswith(name):
            return Reply(call=Call(tool.name, arguments, tool.namespace))
    for tool in tools:
        if tool.name == "WaitForMcpServers":  # Claude Code starts a conversation before its servers are there
            return Reply(call=Call(tool.name, {}))
    return Reply(f"There is no tool {name}: {[tool.name for tool in tools]}")


def text_of(content: object) -> str:
    """The text of a content: a string, or blocks, some of which hold contents themselves."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, dict)]
    return "\n".join(str(block.get("text") or text_of(block.get("content"))) for block in blocks)


class ScriptedModel:
    """The server, in a thread of this process: `with ScriptedModel() as model: model.port`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Json]] = []
        handler = type("Handler", (_Handler,), {"requests": self.requests})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass(frozen=True)
class _Made:
    """A reply on its way into one of the protocols."""

    reply: Reply
    model: str
    size: int
    ident: str = field(default_factory=lambda: uuid.uuid4().hex[:16])

    @property
    def tokens(self) -> tuple[int, int]:
        return self.size // 4 + 1, len(self.reply.text) // 4 + 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests: list[tuple[str, Json]]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Quiet."""

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            asked: Json = json.loads(raw)
        except ValueError:
            asked = {}
        path = self.path.partition("?")[0]
        self.requests.append((path, asked))
        for end, protocol in _PROTOCOLS.items():
            if path.endswith(end):
                turns, tools = protocol.read(asked)
                made = _Made(decide(turns, tools), str(asked.get("model")), len(raw))
                if asked.get("stream") or path.endswith(STREAMING):
                    self._stream(protocol.events(made), named=protocol.named)
                else:
                    self._json(protocol.whole(made))
                return
        self._json({})

    def _json(self, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[Json | str], *, named: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            if named and isinstance(event, dict):
                self.wfile.write(f"event: {event['type']}\n".encode())
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


class _ChatCompletions:
    named = False

    def read(self, asked: Json) -> tuple[list[Turn], list[Offered]]:
        turns = [
            Turn(str(message.get("role")), text_of(message.get("content")), message.get("role") == "tool")
            for message in asked.get("messages", [])
        ]
        return turns, [Offered(tool["function"]["name"]) for tool in asked.get("tools") or [] if "function" in tool]

    def whole(self, made: _Made) -> Json:
        message: Json = {"role": "assistant", "content": made.reply.text or None}
        if made.reply.call is not None:
            message["tool_calls"] = [_chat_call(made.reply.call, made.ident)]
        choice = {"index": 0, "message": message, "finish_reason": _chat_finish(made.reply)}
        return {**_chat_head(made, "chat.completion"), "choices": [choice], "usage": _chat_usage(made)}

    def events(self, made: _Made) -> Iterator[Json | str]:
        head = _chat_head(made, "chat.completion.chunk")

        def chunk(delta: Json, finish: str | None = None) -> Json:
            return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        if made.reply.call is None:
            yield chunk({"content": made.reply.text})
        else:
            yield chunk({"tool_calls": [{"index": 0, **_chat_call(made.reply.call, made.ident)}]})
        yield chunk({}, _chat_finish(made.reply))
        yield {**head, "choices": [], "usage": _chat_usage(made)}
        yield "[DONE]"


def _chat_head(made: _Made, kind: str) -> Json:
    return {"id": f"chatcmpl-{made.ident}", "object": kind, "created": 1_790_000_000, "model": made.model}


def _chat_call(call: Call, ident: str) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": f"call_{ident[:10]}", "type": "function", "function": function}


def _chat_finish(reply: Reply) -> str:
    return "stop" if reply.call is None else "tool_calls"


def _chat_usage(made: _Made) -> Json:
    prompt, completion = made.tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


class _Messages:
    named = True

    def read(self, asked: Json) -> tuple[list[Turn], list[Offered]]:
        turns = []
        for message in asked.get("messages", []):
            content = message.get("content")
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            # A result and a note of the host's own can stand in one message.
            turns += [
                Turn(str(message.get("role")), text_of([block]), block.get("type") == "tool_result")
                for block in blocks
                if isinstance(block, dict)
            ]
        return turns, [Offered(tool["name"]) for tool in asked.get("tools") or [] if "name" in tool]

    def whole(self, made: _Made) -> Json:
        return {
            **_message_head(made),
            "content": [_message_block(made)],
            "stop_reason": _message_stop(made.reply),
            "stop_sequence": None,
            "usage": _message_usage(made),
        }

    def events(self, made: _Made) -> Iterator[Json | str]:
        block, usage = _message_block(made), _message_usage(made)
        start = {**_message_head(made), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield {"type": "message_start", "message": start}
        if made.reply.call is None:
            yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
            delta = {"type": "text_delta", "text": made.reply.text}
        else:
            yield {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(made.reply.call.arguments)}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        ended = {"stop_reason": _message_stop(made.reply), "stop_sequence": None}
        yield {"type": "message_delta", "delta": ended, "usage": usage}
        yield {"type": "message_stop"}


def _message_head(made: _Made) -> Json:
    return {"id": f"msg_{made.ident}", "type": "message", "role": "assistant", "model": made.model}


def _message_block(made: _Made) -> Json:
    call = made.reply.call
    if call is None:
        return {"type": "text", "text": made.reply.text}
    return {"type": "tool_use", "id": f"toolu_{made.ident}", "name": call.name, "input": call.arguments}


def _message_stop(reply: Reply) -> str:
    return "end_turn" if reply.call is None else "tool_use"


def _message_usage(made: _Made) -> Json:
    prompt, completion = made.tokens
    cached = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return {"input_tokens": prompt, "output_tokens": completion, **cached}


class _Responses:
    named = True

    def read(self, asked: Json) -> tuple[list[Turn], list[Offered]]:
        given = asked.get("input", [])
        items = given if isinstance(given, list) else [{"role": "user", "content": given}]
        turns = []
        for item in items:
            if str(item.get("type", "")).endswith("_output"):
                output = item.get("output")
                turns.append(Turn("user", output if isinstance(output, str) else text_of(output), tool=True))
            elif item.get("type", "message") == "message":
                turns.append(Turn(str(item.get("role")), text_of(item.get("content"))))
        return turns, list(_offered(asked.get("tools") or []))

    def whole(self, made: _Made) -> Json:
        return _response(made, "completed", [_item(made, "completed")])

    def events(self, made: _Made) -> Iterator[Json | str]:
        item = _item(made, "completed")
        yield {"type": "response.created", "response": _response(made, "in_progress", [])}
        yield {"type": "response.output_item.added", "output_index": 0, "item": _item(made, "in_progress")}
        if made.reply.call is None:
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            part = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **place, "part": part}
            yield {"type": "response.output_text.delta", **place, "delta": made.reply.text}
            yield {"type": "response.output_text.done", **place, "text": made.reply.text}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": self.whole(made)}


def _offered(tools: Sequence[Mapping[str, Any]]) -> Iterator[Offered]:
    """Tools stand by themselves, or in a namespace of their server."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (Offered(inner["name"], tool["name"]) for inner in tool.get("tools", []))
        elif "name" in tool:
            yield Offered(tool["name"])


def _response(made: _Made, status: str, output: list[Json]) -> Json:
    prompt, completion = made.tokens
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
    head = {"id": f"resp_{made.ident}", "object": "response", "created_at": 1_790_000_000, "model": made.model}
    return {**head, "status": status, "output": output, "usage": usage}


def _item(made: _Made, status: str) -> Json:
    call = made.reply.call
    if call is None:
        text = {"type": "output_text", "text": made.reply.text, "annotations": []}
        item: Json = {"type": "message", "id": f"msg_{made.ident}", "role": "assistant", "content": [text]}
    else:
        item = {"type": "function_call", "id": f"fc_{made.ident}", "call_id": f"call_{made.ident}", "name": call.name}
        item["arguments"] = json.dumps(call.arguments)
        if call.namespace is not None:
            item["namespace"] = call.namespace
    return {**item, "status": status}


class _GenerateContent:
    named = False

    def read(self, asked: Json) -> tuple[list[Turn], list[Offered]]:
        turns = []
        for content in asked.get("contents", []):
            for part in content.get("parts", []):
                result = part.get("functionResponse")
                if result is not None:
                    turns.append(Turn("user", _gemini_result(result.get("response")), tool=True))
                else:
                    turns.append(Turn(str(content.get("role")), str(part.get("text") or "")))
        declared = [one for tool in asked.get("tools") or [] for one in tool.get("functionDeclarations", [])]
        return turns, [Offered(one["name"]) for one in declared]

    def whole(self, made: _Made) -> Json:
        prompt, completion = made.tokens
        call = made.reply.call
        part: Json = {"text": made.reply.text}
        if call is not None:
            part = {"functionCall": {"name": call.name, "args": call.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": prompt, "candidatesTokenCount": completion, "totalTokenCount": prompt + completion}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": made.ident}

    def events(self, made: _Made) -> Iterator[Json | str]:
        yield self.whole(made)


def _gemini_result(response: object) -> str:
    """What a tool answered: under a name that depends on how it ended."""
    if not isinstance(response, dict):
        return str(response)
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in response.values())


STREAMING = ":streamGenerateContent"
_PROTOCOLS: Mapping[str, _ChatCompletions | _Messages | _Responses | _GenerateContent] = {
    "/chat/completions": _ChatCompletions(),
    "/messages": _Messages(),
    "/responses": _Responses(),
    ":generateContent": _GenerateContent(),
    STREAMING: _GenerateContent(),
}
