// A program that uses the adapters. It is not run; only its types are checked.
import { createBashTool, type Sandbox } from "bash-tool";
import { createDeepAgent, type SandboxBackendProtocolV2 } from "deepagents";
import { Session } from "wasibox";
import { bashToolSandbox } from "wasibox/adapters/bash-tool";
import { WasiboxBackend } from "wasibox/adapters/deepagents";

const s = await Session.create();
const sandbox: Sandbox = await bashToolSandbox(s, { timeout: 10 });
await createBashTool({ sandbox, destination: "/workspace" });
const backend: SandboxBackendProtocolV2 = new WasiboxBackend(s, { timeout: 10 });
createDeepAgent({ model: "none", backend });
