// Engines: an image and what its sessions share.

import os = require("node:os");
import path = require("node:path");
import { native, workerProgram, type NativeEngine, type NativeSession, type Progress } from "./native.cjs";
import { absolute, bytes } from "./options.cjs";
import { raising } from "./raising.cjs";
import { WasiboxError } from "./shared/errors.js";

/** What an engine is made of. */
export interface EngineOptions {
  /** The image's file; by default that of `$WASIBOX_IMAGE` or of the package `wasibox-image`. */
  image?: string;
  /**
   * `process` puts each session into a process with a jail; `threads` runs guests in this process, with WebAssembly as the
   * only wall.
   */
  isolation?: "process" | "threads";
  /** Processes that are kept ready for sessions to come: 2 if nothing is said. */
  warm?: number;
  /** Sessions that have a process at once (32); a call of one more puts the one to sleep that was used longest ago. */
  awake?: number;
  /** Seconds without a call after which a session goes to sleep (60); 0: never. */
  idle?: number;
  /** Refuse to run on a host that lacks a wall of the jail. */
  requireWalls?: boolean;
  /** Seconds that compiling and preparing the image's programs may take, which is done once (1800); 0: no limit. */
  prepareTimeout?: number;
  /** Where machine code is kept; by default `~/.cache/wasibox/aot`. */
  artifacts?: string;
  /** The program for processes, instead of the package's. */
  program?: string;
  /** Told of what takes time, a line each; by default a terminal is. */
  progress?: Progress;
}

/** Tells a person what takes time; a program's log is left alone. */
function onTerminal(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`wasibox: ${line}\n`);
}

function cache(): string {
  const base = process.env.XDG_CACHE_HOME ?? "";
  return path.join(path.isAbsolute(base) ? base : path.join(os.homedir(), ".cache"), "wasibox");
}

/** The image of `$WASIBOX_IMAGE`, else that of the package `wasibox-image`, unpacked at its first use. */
async function defaultImage(progress: Progress): Promise<string> {
  if (process.env.WASIBOX_IMAGE) return process.env.WASIBOX_IMAGE;
  let image: { bundle: string };
  try {
    image = require("wasibox-image");
  } catch {
    throw new WasiboxError("there is no image: install wasibox-image, or name one in WASIBOX_IMAGE");
  }
  return raising(() => native.unpack(image.bundle, path.join(cache(), "images"), progress));
}

/** Sees engines as the rest of the package does; other code cannot create one. */
let nativeOf: (engine: Engine) => NativeEngine;

/** An image and what its sessions share: machine code, processes, the rule who is awake. */
export class Engine {
  readonly #native: NativeEngine;

  static {
    nativeOf = (engine) => engine.#native;
  }

  private constructor(made: NativeEngine) {
    this.#native = made;
  }

  /** Opens an image. */
  static async open(options: EngineOptions = {}): Promise<Engine> {
    const { progress = onTerminal, image, program, artifacts, requireWalls, prepareTimeout, ...rest } = options;
    const worker = program ?? (process.env.WASIBOX_WORKER ? undefined : workerProgram);
    const asked = JSON.stringify({
      ...rest,
      image: absolute(image ?? (await defaultImage(progress))),
      program: absolute(worker),
      artifacts: absolute(artifacts),
      require_walls: requireWalls,
      prepare_timeout: prepareTimeout,
    });
    return new Engine(await raising(() => native.openEngine(asked, progress)));
  }

  /** How many sessions have a process now. */
  get awake(): number {
    return this.#native.awake();
  }

  /** Waits until the processes that are kept ready are ready. */
  warmUp(): Promise<void> {
    return raising(() => this.#native.warmUp());
  }

  /** The names of a store's sessions. */
  sessions(store: string): Promise<string[]> {
    return raising(() => this.#native.sessions(path.resolve(store)));
  }

  /** Forgets a session of a store that is not in use. */
  remove(store: string, name: string): Promise<void> {
    return raising(() => this.#native.remove(path.resolve(store), name));
  }
}

/** A session of an engine's, for the package's own files. */
export function open(engine: Engine, opener: string): Promise<NativeSession> {
  return raising(() => nativeOf(engine).open(opener));
}

/** Creates a session from the bytes or the file of a snapshot. */
export function load(engine: Engine, opener: string, source: Uint8Array | string): Promise<NativeSession> {
  const made = nativeOf(engine);
  return raising(() =>
    typeof source === "string" ? made.loadFile(opener, path.resolve(source)) : made.load(opener, bytes(source)),
  );
}

let shared: Promise<Engine> | undefined;

/** The engine of sessions that name none, opened at its first use. */
export function defaultEngine(): Promise<Engine> {
  shared ??= Engine.open().catch((error: unknown) => {
    // The next one who asks tries again.
    shared = undefined;
    throw error;
  });
  return shared;
}
