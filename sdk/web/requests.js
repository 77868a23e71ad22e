// Makes the HTTP requests of guests by `fetch`. The kernel has already checked each request against
// the rules (`runner/web/src/requests.rs`), so nothing is decided here. Nothing of the page is sent
// along: no cookies, no referrer, no cache.

import { isNode } from './engine.js';

/** The maximum number of bytes of a piece of a body for the kernel (`box_abi::http::PART`). */
const PART = 256 << 10;
/** Exit statuses of curl(1). */
const MALFORMED = 3;
const NO_CONNECTION = 7;
const TIMEOUT = 28;
const RECEIVING = 56;

/**
 * Headers that are not sent in a page. They would cause a preflight request, and programs do not
 * need them there.
 */
const UNASKED = new Set(['user-agent']);
/** Headers that are no longer true for a body that `fetch` has decoded. */
const CODED = new Set(['content-encoding', 'content-length']);

/** A request and its response. */
class Exchange {
  abort = new AbortController();
  isLate = false;
  timer;
  /** The reader of the response's body; null at its end. */
  reader = null;
  /** The rest of the last chunk. */
  rest = new Uint8Array(0);

  end() {
    clearTimeout(this.timer);
    this.abort.abort();
  }
}

/** The open requests of a session. */
export class Requests {
  #open = new Map();
  #notify;

  /**
   * @param {(type: 'responded' | 'received', message: object) => Promise<number>} notify notifies
   *   the kernel; resolves to 0 if the kernel does not want the response
   */
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
    // The timer must not keep Node running; the code that waits for the session does.
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
    // A URL that the engine reads differently than the kernel has checked it is not fetched.
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
    // A browser does not show the coding of a response from another origin.
    const isDecoded = method !== 'HEAD' && (response.type === 'cors' || response.headers.has('content-encoding'));
    return {
      status: response.status,
      url: response.url || url,
      headers: isDecoded ? head.filter(([name]) => !CODED.has(name)) : head,
    };
  }

  /** Passes the next piece of a body to the kernel; an empty piece is the end of the body. */
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
      const got = code === TIMEOUT ? { code, why } : { code: 18, why: 'the response ended early' };
      await this.#say(number, exchange, 'responded', { got: { failed: got } });
      return;
    }
    const bytes = exchange.rest.slice(0, PART);
    exchange.rest = exchange.rest.subarray(PART);
    await this.#say(number, exchange, 'received', { bytes });
    if (bytes.length === 0 && this.#open.get(number) === exchange) this.close(number);
  }

  /** Ends a request whose response is no longer wanted. */
  close(number) {
    this.#open.get(number)?.end();
    this.#open.delete(number);
  }

  /** Ends all requests, because the session is closed. */
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
    // If a redirect is followed, the number already belongs to a new exchange.
    if (!isWanted && this.#open.get(number) === exchange) this.close(number);
  }
}

class Failure extends Error {
  constructor(code, why) {
    super(why);
    this.code = code;
  }
}

/**
 * Returns the code and the reason for an error, for the kernel. Browsers do not report why a
 * connection failed; Node does, in the error's cause.
 */
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
