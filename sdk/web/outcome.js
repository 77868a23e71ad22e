// What calls give: the shapes of the package for Node.

import { CommandError, WasiboxError } from './errors.js';

/** Pictures that are fetched of one outcome at most, and bytes of each. */
const PICTURES = 16;
const PICTURE = 8 << 20;

export function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Plain data, or undefined: a guest has written it. */
function parsed(json) {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** What became of a command or a cell. A command that fails is an outcome, too. See index.d.ts. */
export class Outcome {
  #read;

  /**
   * @param {object} told what the kernel says
   * @param {Uint8Array[][]} output by stream
   * @param {(path: string) => Promise<Uint8Array>} read
   */
  constructor(told, output, read) {
    this.exitCode = told.exit_code;
    this.ok = told.exit_code === 0;
    this.stdoutBytes = joined(output[1]);
    this.stderrBytes = joined(output[2]);
    this.stdout = new TextDecoder().decode(this.stdoutBytes);
    this.stderr = new TextDecoder().decode(this.stderrBytes);
    this.duration = told.duration_ms / 1e3;
    this.cpuTime = told.cpu_ms / 1e3;
    this.peakMemory = told.peak_memory;
    this.limitHit = told.limit_hit;
    this.truncated = told.truncated;
    this.files = told.files.map(({ path, change, size, mime_type: mimeType, sha256 }) => {
      return { path, change, size, mimeType, sha256 };
    });
    this.filesTruncated = told.files_truncated;
    this.valueRepr = told.value ?? null;
    const plain = parsed(told.value_json);
    this.valueBytes = told.value_bytes ?? null;
    // Part of a value would pass for another one.
    const shown = this.valueBytes === null ? this.valueRepr : null;
    this.value = plain === undefined ? shown : plain;
    this.ended = told.ended;
    this.putBack = told.put_back;
    this.commit = told.commit ?? null;
    this.#read = read;
  }

  /** The outcome itself; throws a `CommandError` if the exit code is not 0. */
  check() {
    if (!this.ok) throw new CommandError(this);
    return this;
  }

  /** The pictures that the call has made, as they are in the session now. */
  async figures() {
    const found = [];
    for (const { path, change, size, mimeType } of this.files) {
      if (change === 'deleted' || !mimeType?.startsWith('image/') || size > PICTURE) continue;
      try {
        found.push({ path, mimeType, data: await this.#read(path) });
      } catch (error) {
        // Gone meanwhile, or the session is closed: its name is in the list.
        if (!(error instanceof WasiboxError)) throw error;
      }
      if (found.length === PICTURES) break;
    }
    return found;
  }
}
