// history-recall in OMP and Pi: the tools, the slash command and the static text. One file for both; it imports nothing
// of theirs. It keeps one `history-recall serve` process, started at the first call, and speaks docs/serve.md with it.
// Written by `history-recall hosts install`; `hosts uninstall` takes it away.
import { spawn } from "node:child_process";

const PACKAGE: any = __PACKAGE__;
const NAME = "history-recall";
const BRIEF = "history-recall-brief";

type Waiting = { resolve: (value: any) => void; reject: (error: Error) => void; progress?: (params: any) => void };

// One process, with the calls that wait for its answers: when it ends, however it does, they end.
type Child = { process: any; waiting: Map<number, Waiting>; rest: string };

class Served {
  private child: Child | null = null;
  private last = 0;

  call(method: string, params: any, signal?: AbortSignal, progress?: (params: any) => void): Promise<any> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new Error("cancelled"));
      const child = this.started();
      child.waiting.set(id, { resolve, reject, progress });
      const cancel = () => child.waiting.has(id) && this.send(child, { method: "cancel", params: { id } });
      signal?.addEventListener("abort", cancel, { once: true });
      this.send(child, { id, method, params });
    });
  }

  stop(): void {
    const child = this.child;
    this.child = null; // a call that comes after this starts another
    child?.process?.stdin?.end();
  }

  private send(child: Child, message: any): void {
    child.process?.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  private started(): Child {
    if (this.child !== null) return this.child;
    const [program, ...words] = PACKAGE.command;
    const child: Child = { process: null, waiting: new Map(), rest: "" };
    this.child = child;
    try {
      child.process = spawn(program, [...words, "serve"], { stdio: ["pipe", "pipe", "ignore"] });
    } catch (error) {
      queueMicrotask(() => this.ended(child, `${program} cannot be started: ${error}`));
      return child;
    }
    child.process.stdout.setEncoding("utf8");
    child.process.stdout.on("data", (text: string) => this.read(child, text));
    child.process.stdin.on("error", () => undefined); // its end says so too
    child.process.on("error", (error: Error) => this.ended(child, `${program} cannot be started: ${error.message}`));
    child.process.on("exit", (code: number | null, signal: string | null) =>
      this.ended(child, `history-recall ended with ${code ?? signal} in the middle of the call; the next call starts it again`),
    );
    child.process.unref?.();
    return child;
  }

  private read(child: Child, text: string): void {
    const lines = (child.rest + text).split("\n");
    child.rest = lines.pop() ?? "";
    for (const line of lines) {
      let message: any;
      try {
        message = JSON.parse(line);
      } catch {
        continue; // no message of ours
      }
      this.take(child, message);
    }
  }

  private take(child: Child, message: any): void {
    if (message?.method === "progress") return child.waiting.get(message.params.id)?.progress?.(message.params);
    const call = child.waiting.get(message?.id);
    if (!call) return;
    child.waiting.delete(message.id);
    if (message.error) call.reject(new Error(message.error.message));
    else call.resolve(message.result);
  }

  private ended(child: Child, reason: string): void {
    if (this.child === child) this.child = null;
    for (const call of child.waiting.values()) call.reject(new Error(reason));
    child.waiting.clear();
  }
}

export default function (pi: any): void {
  if (process.env.HISTORY_RECALL_DISABLED === "1") return;
  const served = new Served();

  const caller = (ctx: any) => {
    const session = ctx?.sessionManager?.getSessionId?.();
    const profile = process.env.HISTORY_RECALL_PROFILE || (PACKAGE.host === "omp" ? process.env.OMP_PROFILE || process.env.PI_PROFILE : "");
    return {
      ...(session ? { current: `${PACKAGE.host}:${session}` } : {}),
      ...(ctx?.cwd ? { cwd: ctx.cwd } : {}),
      ...(profile && profile !== "default" ? { profile } : {}),
    };
  };
  const stage = (params: any) => `${params.stage} ${params.source}${params.total ? ` ${params.done}/${params.total}` : ""}`;

  for (const tool of PACKAGE.tools) {
    pi.registerTool({
      name: tool.name,
      label: tool.title,
      description: tool.description,
      parameters: tool.inputSchema,
      approval: tool.annotations.readOnlyHint ? "read" : "write",
      loadMode: "essential",
      async execute(_id: string, params: any, signal: any, onUpdate: any, ctx: any) {
        const report = (progress: any) => onUpdate?.({ content: [{ type: "text", text: stage(progress) }], details: progress });
        const given = { name: tool.name, arguments: params ?? {}, ...caller(ctx) };
        const result = await served.call("tool", given, signal, report);
        if (result.is_error) throw new Error(result.text);
        return { content: [{ type: "text", text: result.text }], details: {} };
      },
    });
  }

  pi.registerCommand(NAME, {
    description: PACKAGE.description,
    getArgumentCompletions: (prefix: string) => {
      const found = PACKAGE.commands.filter((one: any) => one.name.startsWith(prefix.trimStart()));
      return found.length ? found.map((one: any) => ({ value: one.name, label: one.name, description: one.summary })) : null;
    },
    async handler(args: string, ctx: any) {
      const show = (params: any) => ctx.hasUI && ctx.ui?.setStatus?.(NAME, stage(params));
      let text: string;
      try {
        text = (await served.call("line", { line: args, ...caller(ctx) }, undefined, show)).text;
      } catch (error: any) {
        text = `history-recall: ${error.message}`;
      }
      if (!ctx.hasUI) return void process.stdout.write(text + "\n");
      ctx.ui?.setStatus?.(NAME, undefined);
      pi.sendMessage({ customType: NAME, content: text, display: true }, { triggerTurn: false });
    },
  });

  const isNew = (ctx: any) => {
    const entries: any[] = ctx?.sessionManager?.getEntries?.() ?? [];
    return !entries.some((entry) => entry.customType === BRIEF || entry.message?.role === "assistant");
  };
  const brief = async (ctx: any): Promise<string> => {
    try {
      const said = await served.call("line", { line: "brief --quiet", ...caller(ctx) });
      return said.exit_code === 0 ? said.text : "";
    } catch {
      return ""; // the conversation goes on without it
    }
  };

  // The same bytes each time: the host may cache them. The brief, where the person turned it on, is a message of its own.
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    const given = event.systemPrompt;
    const answer: any = {};
    if (Array.isArray(given)) answer.systemPrompt = [...given, PACKAGE.capability];
    else if (typeof given === "string") answer.systemPrompt = `${given}\n\n${PACKAGE.capability}`;
    const said = PACKAGE.brief && isNew(ctx) ? await brief(ctx) : "";
    if (said) answer.message = { customType: BRIEF, content: said, display: true };
    return answer;
  });
  pi.on("session_shutdown", () => served.stop());
}
