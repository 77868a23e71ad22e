// The options of sessions, converted to JSON with the terms of policy files.

import fs = require("node:fs");
import path = require("node:path");
import type { Engine } from "./engine.cjs";
import type { ExecOptions } from "./shared/options.js";
import type { HostTool } from "./tools.cjs";

/** A host file or folder that guests see. */
export interface Mount {
  host: string;
  /** Whether guests may write to it; false by default. */
  writable?: boolean;
  /** The maximum number of bytes that guests may add: a number, or a text such as `"100M"`. */
  quota?: number | string;
}

/** The HTTP requests that guests may make. */
export interface Network {
  /** The rules for allowed requests, such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** The rules for requests that are refused even if `allow` has them. */
  deny?: readonly string[];
  /**
   * Headers that are added to requests and that guests do not see: `"HOST: NAME=VALUE"`. The value
   * may contain `${env:KEY}` and `${file:PATH}`.
   */
  secrets?: readonly string[];
}

/** The folder that a session works in: that of a zip, or a host folder under an overlay. */
export interface Workspace {
  path: string;
  /**
   * `overlay`: the path is a folder, which stays as it is until changes are applied. `zip`: the
   * path is a zip, which is replaced after each call that has changed files. By default an existing
   * folder is an `overlay`, and everything else a `zip`.
   */
  kind?: "overlay" | "zip";
  /** The path that guests see; `/work` by default. */
  guest?: string;
}

/** A preset of limits. */
export type Preset = "strict" | "normal" | "permissive";

/**
 * Limits by name (docs/policy.md). Times are in seconds, sizes are bytes or texts such as `"1G"`,
 * and `"none"` means no limit.
 */
export interface Limits {
  preset?: Preset;
  timeout?: number | "none";
  cpu?: number | "none";
  memory?: number | string;
  disk?: number | string;
  inodes?: number | "none";
  fileSize?: number | string;
  pipes?: number;
  output?: number | string;
  processes?: number;
  spawns?: number | "none";
  descriptors?: number;
  hostDescriptors?: number;
}

/** The resources that a session may use. By default it has no host files and no network. */
export interface Grants {
  /** The file (`.wbx`) that keeps the session. It is created if it does not exist. */
  store?: string;
  /** The session's name; in a store it is `default` by default. */
  name?: string;
  /** A policy file, or an object with the same terms. The options below take precedence. */
  policy?: string | Readonly<Record<string, unknown>>;
  limits?: Preset | Limits;
  /**
   * Host files and folders by the paths that guests see, such as `{ "/data": "data" }`. They are
   * read-only; a `Mount` may allow writing.
   */
  mounts?: Readonly<Record<string, string | Mount>>;
  /**
   * Rules for the HTTP requests that guests may make, such as `"GET https://api.example.com/"`. By
   * default there is no network.
   */
  network?: string | readonly string[] | Network;
  /**
   * Functions of this program that guests may call as commands, from Python and from JavaScript.
   */
  tools?: Iterable<HostTool>;
  /** The engine that runs the session; by default `defaultEngine()`. */
  engine?: Engine | Promise<Engine>;
}

/** The options of `Session.create`. */
export interface SessionOptions extends Grants {
  /**
   * `any` (the default) opens the session of that name, or creates it if there is none. `create`
   * only creates, and `open` only opens.
   */
  open?: "any" | "create" | "open";
  /** A folder or a zip on the host that the session works in. */
  workspace?: string | Workspace;
}

/** The options of `Session.stream`. */
export type StreamOptions = Omit<ExecOptions, "onStdout" | "onStderr">;

const kebab = (name: string) => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`).replaceAll("_", "-");

/** Returns the absolute path of a host file, which no longer depends on the current directory. */
export const absolute = (file: string | undefined) => (file === undefined ? undefined : path.resolve(file));

function mounts(given: Readonly<Record<string, string | Mount>>) {
  return Object.entries(given).map(([guest, mount]) => {
    const { host, writable = false, quota } = typeof mount === "string" ? { host: mount } : mount;
    return { guest, host: path.resolve(host), writable, quota };
  });
}

function workspace(given: string | Workspace) {
  const asked: Workspace = typeof given === "string" ? { path: given } : given;
  const whole = path.resolve(asked.path);
  const isFolder = fs.statSync(whole, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return { [asked.kind ?? (isFolder ? "overlay" : "zip")]: whole, guest: asked.guest ?? "/work" };
}

function network(given: string | readonly string[] | Network) {
  if (typeof given === "string") return { allow: [given] };
  return Array.isArray(given) ? { allow: given } : given;
}

/** Returns the options of a session as JSON, for the native module. */
export function opener(options: SessionOptions): string {
  const isFile = typeof options.policy === "string";
  const said: Record<string, unknown> = isFile ? {} : { ...(options.policy as object | undefined) };
  if (typeof options.limits === "string") {
    said.preset = options.limits;
  } else if (options.limits !== undefined) {
    const { preset, ...limits } = options.limits;
    if (preset !== undefined) said.preset = preset;
    const changed = Object.entries(limits).map(([name, value]) => [kebab(name), value] as const);
    said.limits = { ...(said.limits as object | undefined), ...Object.fromEntries(changed) };
  }
  if (options.mounts !== undefined) {
    said.mount = [...((said.mount as unknown[] | undefined) ?? []), ...mounts(options.mounts)];
  }
  if (options.workspace !== undefined) said.workspace = workspace(options.workspace);
  if (options.network !== undefined) said.network = network(options.network);
  return JSON.stringify({
    store: absolute(options.store),
    name: options.name,
    open: options.open,
    policy_file: isFile ? path.resolve(options.policy as string) : undefined,
    policy: said,
  });
}

const NOTHING = Buffer.alloc(0);

/** Returns bytes as a buffer for the native module, which copies them before it returns. */
export function bytes(data: string | Uint8Array | undefined): Buffer {
  if (data === undefined) return NOTHING;
  if (typeof data === "string") return Buffer.from(data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
