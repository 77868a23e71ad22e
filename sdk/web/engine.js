// What pages and Node have under different names: workers, messages, files.

export const isNode = typeof process !== 'undefined' && Boolean(process.versions?.node);

/** The constructor of workers. */
const { Worker: AnyWorker, parentPort } = isNode
  ? await import('node:worker_threads')
  : { Worker: globalThis.Worker, parentPort: null };

/** MiB of stack, where workers can be given one: as the native runner's. A page's have what the browser gives. */
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

/** Keeps the program running while a worker has something to do, where that is not so anyway. */
export function hold(worker, on) {
  if (isNode) on ? worker.ref() : worker.unref();
}

/** Sends a message from a worker. */
export function post(message, transfer = []) {
  if (parentPort) parentPort.postMessage(message, transfer);
  else globalThis.postMessage(message, transfer);
}

/** Has a function called for each message to this worker. If it fails, who has started the worker is told. */
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

/** The bytes at a URL. */
export async function load(url) {
  if (isNode && url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return new Uint8Array(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}
