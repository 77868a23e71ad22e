// A program that uses the adapters. It is not run; only its types are checked.
import { createBashTool, type Sandbox } from "bash-tool";
import { Session } from "wasibox";
import { bashToolSandbox } from "wasibox/adapters/bash-tool";

const s = await Session.create();
const sandbox: Sandbox = await bashToolSandbox(s, { timeout: 10 });
await createBashTool({ sandbox, destination: "/workspace" });
