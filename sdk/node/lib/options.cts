// What sessions are granted and how calls are made, in the words of policy files.

import fs = require("node:fs");
import path = require("node:path");
import type { Engine } from "./engine.cjs";
import type { ExecOptions } from "./shared/options.js";
import type { HostTool } from "./tools.cjs";

/** A host file or folder that guests see. */
export interface Mount {
  host: string;
  /** Guests may write to it, */
  writable?: boolean;
  /** and add so many bytes (a number, or a text such as `"100M"`). */
  quota?: number | string;
}

/** Requests that guests may make. */
export interface Network {
  /** Rules such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** What is not allowed after all. */
  deny?: readonly string[];
  /** Headers that guests do not see: `"HOST: NAME=VALUE"`, with `${env:KEY}` and `${file:PATH}`. */
  secrets?: readonly string[];
}

/** A folder of the session that begins as a zip, or as a host's folder that stays as it is. */
export interface Workspace {
  path: string;
  /** `overlay`: a folder; `zip`: a zip, replaced after each call that has changed files. By default what the path is. */
  kind?: "overlay" | "zip";
  /** `/work` if nothing is said. */
  guest?: string;
}

/** A preset of limits. */
export type Preset = "strict" | "normal" | "permissive";

/** Limits by name: docs/policy.md. Times are seconds, sizes bytes or texts such as `"1G"`, `"none"` is no limit. */
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

/** What a session is granted: nothing but what is said. */
export interface Grants {
  /** The file (`.wbx`) that keeps it; it is made if it is not there. */
  store?: string;
  /** Its name, in a store `default` if nothing is said. */
  name?: string;
  /** A policy file, or the same words as an object. What follows comes before it. */
  policy?: string | Readonly<Record<string, unknown>>;
  limits?: Preset | Limits;
  /** Host files and folders by the path that guests see: `{ "/data": "data" }`, read-only, or a `Mount`. */
  mounts?: Readonly<Record<string, string | Mount>>;
  /** Rules of the requests that guests may make: `"GET https://api.example.com/"`. */
  network?: string | readonly string[] | Network;
  /** Functions of this program that guests may call, as commands, from Python and from JavaScript. */
  tools?: Iterable<HostTool>;
  /** What it runs on; by default `defaultEngine()`. */
  engine?: Engine | Promise<Engine>;
}

/** What a session is to be. */
export interface SessionOptions extends Grants {
  /** Whether to open the one of that name or make it, or only one of both. */
  open?: "any" | "create" | "open";
  /** A folder or a zip that the session works in. */
  workspace?: string | Workspace;
}

/** How a command runs whose output is read as it comes. */
export type StreamOptions = Omit<ExecOptions, "onStdout" | "onStderr">;

const kebab = (name: string) => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`).replaceAll("_", "-");

/** A path of the host's as it is, whatever the current directory becomes. */
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

/** What a session is to be, for the native module. */
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

/** Bytes for the native module, which copies them before it returns. */
export function bytes(data: string | Uint8Array | undefined): Buffer {
  if (data === undefined) return NOTHING;
  if (typeof data === "string") return Buffer.from(data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
