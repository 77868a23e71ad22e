// The results of calls, which have the same properties as in the package for Node.

import { CommandError, WasiboxError } from './errors.js';

/** The maximum number of pictures that are read for one outcome. */
const PICTURES = 16;
/** The maximum number of bytes of a picture. */
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

/** Returns parsed JSON, or undefined if it is invalid, because a guest has written it. */
function parsed(json) {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** How a command or a cell ended; see index.d.ts. */
export class Outcome {
  #read;

  /**
   * @param {object} reply the kernel's outcome
   * @param {Uint8Array[][]} output by stream
   * @param {(path: string) => Promise<Uint8Array>} read
   */
  constructor(reply, output, read) {
    this.exitCode = reply.exit_code;
    this.ok = reply.exit_code === 0;
    this.stdoutBytes = joined(output[1]);
    this.stderrBytes = joined(output[2]);
    this.stdout = new TextDecoder().decode(this.stdoutBytes);
    this.stderr = new TextDecoder().decode(this.stderrBytes);
    this.duration = reply.duration_ms / 1e3;
    this.cpuTime = reply.cpu_ms / 1e3;
    this.peakMemory = reply.peak_memory;
    this.limitHit = reply.limit_hit;
    this.truncated = reply.truncated;
    this.files = reply.files.map(({ path, change, size, mime_type: mimeType, sha256 }) => {
      return { path, change, size, mimeType, sha256 };
    });
    this.filesTruncated = reply.files_truncated;
    this.valueRepr = reply.value ?? null;
    const plain = parsed(reply.value_json);
    this.valueBytes = reply.value_bytes ?? null;
    // A part of a value could be mistaken for the whole value.
    const shown = this.valueBytes === null ? this.valueRepr : null;
    this.value = plain === undefined ? shown : plain;
    this.ended = reply.ended;
    this.putBack = reply.put_back;
    this.commit = reply.commit ?? null;
    this.#read = read;
  }

  /** Returns the outcome itself. Throws a `CommandError` if the exit code is not 0. */
  check() {
    if (!this.ok) throw new CommandError(this);
    return this;
  }

  /** Resolves to the pictures among `files`, with their current contents in the session. */
  async figures() {
    const found = [];
    for (const { path, change, size, mimeType } of this.files) {
      if (change === 'deleted' || !mimeType?.startsWith('image/') || size > PICTURE) continue;
      try {
        found.push({ path, mimeType, data: await this.#read(path) });
      } catch (error) {
        // The file was removed meanwhile, or the session is closed.
        if (!(error instanceof WasiboxError)) throw error;
      }
      if (found.length === PICTURES) break;
    }
    return found;
  }
}
