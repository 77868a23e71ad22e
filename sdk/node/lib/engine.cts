// Engines: an image with all that its sessions share.

import os = require("node:os");
import path = require("node:path");
import { native, workerProgram, type NativeEngine, type NativeSession, type Progress } from "./native.cjs";
import { absolute, bytes } from "./options.cjs";
import { raising } from "./raising.cjs";
import { WasiboxError } from "./shared/errors.js";

/** The options of an engine. */
export interface EngineOptions {
  /**
   * The file of the image. By default this is `$WASIBOX_IMAGE`, or the image of the package
   * `wasibox-image`.
   */
  image?: string;
  /**
   * `process` (the default) runs each session in a jailed process of its own; `threads` runs guests
   * in this process, with WebAssembly as the only wall.
   */
  isolation?: "process" | "threads";
  /** The number of processes that are kept ready for new sessions; 2 by default. */
  warm?: number;
  /**
   * The maximum number of sessions that have a process at the same time; 32 by default. A call of
   * another session puts the least recently used one to sleep.
   */
  awake?: number;
  /**
   * The seconds without a call after which a session goes to sleep; 60 by default, 0 means never.
   */
  idle?: number;
  /** Whether to refuse a host that lacks a wall of the jail; false by default. */
  requireWalls?: boolean;
  /**
   * The seconds that compiling and preparing the image's programs may take, which is done once;
   * 1800 by default, 0 means no limit.
   */
  prepareTimeout?: number;
  /** The folder that caches machine code; by default `~/.cache/wasibox/aot`. */
  artifacts?: string;
  /** The program that sessions' processes run, instead of the package's. */
  program?: string;
  /**
   * Called with a line for each slow step. By default, the lines are printed if standard error is a
   * terminal.
   */
  progress?: Progress;
}

/** Prints a line about a slow step if standard error is a terminal. */
function onTerminal(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`wasibox: ${line}\n`);
}

function cache(): string {
  const base = process.env.XDG_CACHE_HOME ?? "";
  return path.join(path.isAbsolute(base) ? base : path.join(os.homedir(), ".cache"), "wasibox");
}

/**
 * Returns the path of the default image. This is `$WASIBOX_IMAGE` if it is set, otherwise the image
 * of the package `wasibox-image`, which is unpacked when it is first used.
 */
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

/** Returns the native part of an engine, which is private to the files of this package. */
let nativeOf: (engine: Engine) => NativeEngine;

/**
 * An image with all that its sessions share: machine code, processes, a limit of awake sessions.
 */
export class Engine {
  readonly #native: NativeEngine;

  static {
    nativeOf = (engine) => engine.#native;
  }

  private constructor(made: NativeEngine) {
    this.#native = made;
  }

  /**
   * Opens an image.
   *
   * @throws a `WasiboxError` if the options are invalid, the image is missing or damaged, or the
   *   host lacks a required wall.
   */
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

  /** The number of sessions that have a process now. */
  get awake(): number {
    return this.#native.awake();
  }

  /** Waits until the processes for new sessions (`warm`) are ready. */
  warmUp(): Promise<void> {
    return raising(() => this.#native.warmUp());
  }

  /** Returns the names of a store's sessions. */
  sessions(store: string): Promise<string[]> {
    return raising(() => this.#native.sessions(path.resolve(store)));
  }

  /** Removes a session from a store. The session must not be in use (`BusyError`). */
  remove(store: string, name: string): Promise<void> {
    return raising(() => this.#native.remove(path.resolve(store), name));
  }
}

/** Opens a session on an engine; `opener` has its options in JSON. */
export function open(engine: Engine, opener: string): Promise<NativeSession> {
  return raising(() => nativeOf(engine).open(opener));
}

/** Creates a session on an engine from the bytes of a snapshot, or from its file. */
export function load(engine: Engine, opener: string, source: Uint8Array | string): Promise<NativeSession> {
  const made = nativeOf(engine);
  return raising(() =>
    typeof source === "string" ? made.loadFile(opener, path.resolve(source)) : made.load(opener, bytes(source)),
  );
}

let shared: Promise<Engine> | undefined;

/** Returns the engine of sessions that are created without one. It is opened by the first call. */
export function defaultEngine(): Promise<Engine> {
  shared ??= Engine.open().catch((error: unknown) => {
    // The next call tries again.
    shared = undefined;
    throw error;
  });
  return shared;
}
