// The extension as OMP loads it, with a real `history-recall serve` behind it: killed in mid-call, stopped, aborted.
// Prints one line where all of it came to what it has to: bun bridge.ts EXTENSION
import { readFileSync } from "node:fs";

const { default: register } = await import(process.argv[2]);
const tools = new Map<string, any>();
const events = new Map<string, any>();
register({
  registerTool: (tool: any) => tools.set(tool.name, tool),
  registerCommand: () => undefined,
  on: (name: string, handler: any) => events.set(name, handler),
});
const call = (name: string, params: any = {}, signal?: AbortSignal) =>
  tools.get(`history_recall_${name}`).execute("1", params, signal, undefined, { cwd: process.cwd() });
const children = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
const fails = async (work: Promise<any>, words: string) => {
  try {
    await work;
  } catch (error: any) {
    if (String(error.message).includes(words)) return;
    throw new Error(`it failed otherwise: ${error.message}`);
  }
  throw new Error(`it did not fail with: ${words}`);
};
const answers = async () => {
  const said = await call("status");
  if (!said.content[0].text.includes("conversations")) throw new Error(`no status: ${said.content[0].text}`);
};

await answers();
const [first] = children();
const open = [call("search", { queries: ["ledger"] }), call("status"), call("browse")];
process.kill(first, "SIGKILL");
const ended = await Promise.allSettled(open);
if (!ended.some((one) => one.status === "rejected")) throw new Error("it was killed, and every call was answered");
await answers();
if (children().includes(first)) throw new Error("the killed process is still there");
await fails(call("search", { words: "x" }), "words");
await events.get("session_shutdown")({}, {});
await answers(); // in the same program a conversation can end and another begin
const abort = new AbortController();
abort.abort();
await fails(call("status", {}, abort.signal), "cancelled");
await events.get("session_shutdown")({}, {});
process.stdout.write("the bridge holds\n");
process.exit(0);
