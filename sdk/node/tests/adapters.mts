// What a program with the adapters says; only its types are looked at.
import { createBashTool, type Sandbox } from "bash-tool";
import { Session } from "wasibox";
import { bashToolSandbox } from "wasibox/adapters/bash-tool";

const s = await Session.create();
const sandbox: Sandbox = await bashToolSandbox(s, { timeout: 10 });
await createBashTool({ sandbox, destination: "/workspace" });
