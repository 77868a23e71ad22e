// A program in TypeScript. It is not run; only its types are checked.
import { CommandError, Engine, FileError, Session, ToolError, tool, type Chunk, type HostTool, type Outcome } from "wasibox";
import { z } from "zod";

const engine: Engine = await Engine.open({ warm: 1, isolation: "threads" });
await using s = await Session.create({
  engine,
  limits: { memory: "1G", fileSize: 1 << 20, timeout: "none" },
  mounts: { "/data": "data", "/out": { host: "out", writable: true, quota: "1M" } },
  network: { allow: ["GET https://example.com/"] },
});
const outcome: Outcome = await s.exec("echo hi | wc -c", { signal: AbortSignal.timeout(1000), env: { A: "b" } });
const text: string = outcome.check().stdout;
const bytes: Buffer = await s.read("/tmp/a");
const packed: Buffer = await s.export();
const nothing: void = await s.export("a.wbs", { history: true });
for await (const [index, { exitCode }] of s.map(["true", ["false"]], { atOnce: 2, timeout: 1 })) console.log(index + exitCode);
const cell: unknown = (await s.javascript("1 + 1")).value;
for (const figure of await outcome.figures()) console.log(figure.mimeType, figure.data.length);
await using output = s.stream(["echo", text]);
for await (const chunk of output) {
  const { stream, text }: Chunk = chunk;
  console.log(stream, text);
}
try {
  await s.exec("false", { check: true });
} catch (error) {
  if (error instanceof CommandError) console.log(error.outcome.exitCode, error.kind);
  if (error instanceof FileError) console.log(error.code);
}
const weather = tool({
  name: "weather",
  schema: z.object({ city: z.string(), days: z.number().default(1) }),
  execute: async ({ city, days }, { signal }) => {
    signal.throwIfAborted();
    if (days > 7) throw new ToolError("too far");
    // @ts-expect-error `city` is a string
    city.toFixed();
    return city.length + days;
  },
});
const plain: HostTool = { name: "plain", schema: { type: "object" }, execute: (args) => args.a };
await s.setTools([weather, plain]);
// @ts-expect-error there is no such option
await s.exec("true", { time: 1 });
// @ts-expect-error there is no such limit
await Session.create({ limits: { memorie: 1 } });
// @ts-expect-error sessions are made by `create`
new Session();
// @ts-expect-error outcomes are read-only
outcome.exitCode = 0;
console.log(bytes.length, packed.length, nothing, cell);
