// A program in TypeScript for a page or for Node. It is not run; only its types are checked.
import {
  BusyError,
  CommandError,
  FileError,
  persist,
  remove,
  Session,
  sessions,
  storage,
  type Changed,
  type Commit,
  type Entry,
  type Match,
  type Outcome,
  type Progress,
} from "wasibox-web";

const loaded: Progress[] = [];
const s: Session = await Session.create({
  baseUrl: new URL("https://example.com/wasibox/"),
  store: "work",
  name: "a",
  open: "any",
  onProgress: (progress) => loaded.push(progress),
  log: (text: string) => console.error(text),
});
// @ts-expect-error `open` has no such value
await Session.create({ baseUrl: "/", open: "never" });
const outcome: Outcome = await s.exec("echo hi | wc -c", { signal: AbortSignal.timeout(1000), env: { A: "b" } });
const text: string = outcome.check().stdout;
await s.exec(["echo", text], { cwd: "/tmp", listFiles: false, onStdout: (part: string) => console.log(part) });
async function* input() {
  yield "a line\n";
  yield new Uint8Array(3);
}
const cell: unknown = (await s.python("input()", { stdin: input(), timeout: 1, check: true })).value;
for (const { mimeType, data } of await outcome.figures()) console.log(mimeType, data.length, cell);
const bytes: Uint8Array = await s.read("/tmp/a");
await s.write("/tmp/b", bytes);
const entries: Entry[] = await s.list("/tmp", { depth: 2 });
const matches: Match[] = await s.grep("x", "/tmp", { literal: true });
const commits: Commit[] = await s.history();
const changed: Changed[] = await s.changes(commits[0]!.number);
console.log(entries.length, matches.length, changed.map(({ before, after }) => (before ?? after)?.length));
const fork: Session = await s.fork("b");
await using other = await Session.load(await fork.export({ history: true }), { baseUrl: "/wasibox/", store: "work", name: "c" });
try {
  await other.exec("false", { check: true });
} catch (error) {
  if (error instanceof CommandError) console.log(error.outcome.exitCode, error.kind);
  if (error instanceof FileError) console.log(error.code);
  if (error instanceof BusyError) console.log(error.message);
}
const names: string[] = await sessions("work");
for (const name of names) await remove("work", name);
const { usage, quota, isPersisted }: { usage: number; quota: number; isPersisted: boolean } = await storage();
console.log(usage / quota, isPersisted || (await persist()));
