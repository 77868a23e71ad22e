// Requests of guests, made by `fetch`. The kernel has judged each of them (`runner/web/src/requests.rs`): nothing is
// decided here, and nothing of the page is sent along: no cookies, no referrer, no cache.

import { isNode } from './engine.js';

/** Most bytes of a part that the kernel is told of (`box_abi::http::PART`). */
const PART = 256 << 10;
/** Exit statuses of curl(1). */
const MALFORMED = 3;
const NO_CONNECTION = 7;
const TIMEOUT = 28;
const RECEIVING = 56;

/** Headers that make a browser ask the server first, though no program means anything by them there. */
const UNASKED = new Set(['user-agent']);
/** What is not true any more of a body that `fetch` has decoded. */
const CODED = new Set(['content-encoding', 'content-length']);

/** A request under way. */
class Exchange {
  abort = new AbortController();
  isLate = false;
  timer;
  /** The response's body, and what of its last chunk is left. */
  reader = null;
  rest = new Uint8Array(0);

  end() {
    clearTimeout(this.timer);
    this.abort.abort();
  }
}

/** The requests of a session that are open. */
export class Requests {
  #open = new Map();
  #notify;

  /** @param {(type: 'responded' | 'received', message: object) => Promise<number>} notify the kernel; 0 if it does not want to know */
  constructor(notify) {
    this.#notify = notify;
  }

  /** Makes a request. */
  async make(number, asked, body) {
    this.close(number);
    const exchange = new Exchange();
    this.#open.set(number, exchange);
    exchange.timer = setTimeout(() => {
      exchange.isLate = true;
      exchange.abort.abort();
    }, asked.time);
    // Node's must not be kept from ending by it: what waits for the session does that.
    exchange.timer.unref?.();
    let reply;
    try {
      reply = { head: await this.#fetch(exchange, asked, body) };
    } catch (error) {
      reply = { failed: failure(exchange, error, asked.url) };
    }
    await this.#say(number, exchange, 'responded', { got: reply });
  }

  async #fetch(exchange, { method, url, headers, follow }, body) {
    // Whoever reads it otherwise than the kernel has judged it does not fetch it.
    if (new URL(url).href !== url) throw new Failure(MALFORMED, 'URL rejected: it is read in more than one way');
    const response = await fetch(url, {
      method,
      headers: isNode ? headers : headers.filter(([name]) => !UNASKED.has(name)),
      body: body.length > 0 ? body : undefined,
      signal: exchange.abort.signal,
      mode: 'cors',
      credentials: 'omit',
      cache: 'no-store',
      redirect: follow && !isNode ? 'follow' : 'manual',
      referrerPolicy: 'no-referrer',
    });
    if (response.type === 'opaqueredirect') {
      throw new Failure(
        RECEIVING,
        `${url} leads elsewhere, and a browser tells no page where: only the rule '* *://*:*' lets it follow`,
      );
    }
    exchange.reader = response.body?.getReader() ?? null;
    const head = [...response.headers];
    // Of another origin's response a browser does not show how it was coded.
    const isDecoded = method !== 'HEAD' && (response.type === 'cors' || response.headers.has('content-encoding'));
    return {
      status: response.status,
      url: response.url || url,
      headers: isDecoded ? head.filter(([name]) => !CODED.has(name)) : head,
    };
  }

  /** Tells the kernel the next part of a body, an empty one at its end. */
  async read(number) {
    const exchange = this.#open.get(number);
    if (!exchange) return;
    try {
      while (exchange.rest.length === 0 && exchange.reader) {
        const { value, done } = await exchange.reader.read();
        if (done) exchange.reader = null;
        else exchange.rest = value;
      }
    } catch (error) {
      const { code, why } = failure(exchange, error, '');
      const got = code === TIMEOUT ? { code, why } : { code: 18, why: 'the response ended before it was whole' };
      await this.#say(number, exchange, 'responded', { got: { failed: got } });
      return;
    }
    const bytes = exchange.rest.slice(0, PART);
    exchange.rest = exchange.rest.subarray(PART);
    await this.#say(number, exchange, 'received', { bytes });
    if (bytes.length === 0 && this.#open.get(number) === exchange) this.close(number);
  }

  /** Nobody wants a response any more. */
  close(number) {
    this.#open.get(number)?.end();
    this.#open.delete(number);
  }

  /** The session ends. */
  closeAll() {
    for (const number of [...this.#open.keys()]) this.close(number);
  }

  async #say(number, exchange, type, message) {
    if (this.#open.get(number) !== exchange) return;
    let isWanted = 0;
    try {
      isWanted = await this.#notify(type, { ...message, number });
    } catch {
      // The session was closed.
    }
    // A redirect that is followed is a new exchange by now.
    if (!isWanted && this.#open.get(number) === exchange) this.close(number);
  }
}

class Failure extends Error {
  constructor(code, why) {
    super(why);
    this.code = code;
  }
}

/** What the kernel is told of an error. Engines do not say what was wrong with a connection: Node does, in the error's cause. */
function failure(exchange, error, url) {
  if (error instanceof Failure) return { code: error.code, why: error.message };
  if (exchange.isLate) return { code: TIMEOUT, why: 'the request took too long' };
  if (!isNode) {
    const why = `the browser refused to fetch ${url} for this page (CORS), or there is no such server`;
    return { code: NO_CONNECTION, why };
  }
  const cause = error?.cause ?? error;
  const { host } = new URL(url || 'http://-');
  if (cause?.code === 'ENOTFOUND' || cause?.code === 'EAI_AGAIN') return { code: 6, why: `could not resolve ${host}` };
  return { code: NO_CONNECTION, why: `could not connect to ${host}: ${cause?.message || cause?.code || cause}` };
}
