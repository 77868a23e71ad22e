// Workers, messages and files, which pages and Node have under different names.

export const isNode = typeof process !== 'undefined' && Boolean(process.versions?.node);

/** The constructor of workers. */
const { Worker: AnyWorker, parentPort } = isNode
  ? await import('node:worker_threads')
  : { Worker: globalThis.Worker, parentPort: null };

/**
 * The stack of a worker in MiB, as in the native runner. Only Node's workers get it; those of a
 * page have the size that the browser gives them.
 */
const STACK = 16;

/**
 * Starts a worker of this package.
 * @param {(message: any) => void} onMessage
 * @param {(error: Error) => void} onError
 */
export function startWorker(onMessage, onError) {
  const url = new URL('./worker.js', import.meta.url);
  const worker = new AnyWorker(url, { type: 'module', resourceLimits: { stackSizeMb: STACK } });
  if (isNode) {
    worker.on('message', onMessage);
    worker.on('error', onError);
    // A session that is never closed must not prevent the program from ending.
    worker.unref();
  } else {
    worker.onmessage = (event) => onMessage(event.data);
    worker.onerror = (event) => onError(new Error(event.message));
  }
  return worker;
}

/** Keeps Node running while a worker has work. In pages, this does nothing. */
export function hold(worker, on) {
  if (isNode) on ? worker.ref() : worker.unref();
}

/** Sends a message from a worker. */
export function post(message, transfer = []) {
  if (parentPort) parentPort.postMessage(message, transfer);
  else globalThis.postMessage(message, transfer);
}

/**
 * Calls a function for each message to this worker. If it fails, the starter of the worker gets the
 * error.
 */
export function listen(onMessage) {
  if (parentPort) {
    parentPort.on('message', onMessage);
    return;
  }
  const fail = (error) =>
    setTimeout(() => {
      throw error;
    });
  globalThis.onmessage = (event) => onMessage(event.data).catch(fail);
}

/** Resolves to the bytes at a URL. */
export async function load(url) {
  if (isNode && url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return new Uint8Array(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}
