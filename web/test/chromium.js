// Drives Chromium by its own protocol (DevTools) over Node's WebSocket, so no driver needs to be
// installed.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a browser without a window. Returns the object that drives its page. */
export async function open(program) {
  const profile = mkdtempSync(join(tmpdir(), 'wasibox-page-'));
  // Chromium has no sandbox for root, and it opens only our own pages here.
  const args = ['--headless', '--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'];
  args.push('--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic');
  args.push('--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank');
  const browser = spawn(program, args, { stdio: 'ignore', detached: true });
  const kill = () => {
    try {
      process.kill(-browser.pid, 'SIGKILL');
    } catch {
      // The browser has already ended.
    }
  };
  // When the tests exceed their time and are ended, the browser must end, too.
  process.once('exit', kill).once('SIGTERM', () => process.exit(143));
  const told = join(profile, 'DevToolsActivePort');
  for (let n = 0; n < 300 && !(existsSync(told) && readFileSync(told, 'utf8').includes('\n')); n++) await pause(100);
  const [port] = readFileSync(told, 'utf8').split('\n');
  const targets = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const page = new Page(targets.find(({ type }) => type === 'page').webSocketDebuggerUrl);
  await page.ready;
  /** The id of the browser's process group. */
  page.pid = browser.pid;
  page.close = async () => {
    const ended = new Promise((resolve) => browser.once('exit', resolve));
    process.off('exit', kill);
    kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return page;
}

class Page {
  #socket;
  #asked = new Map();
  #last = 0;
  /** The errors that the page has written to its console, and the exceptions it has thrown. */
  problems = [];

  constructor(url) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    this.ready = new Promise((resolve) => (this.#socket.onopen = resolve)).then(() =>
      Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => this.ask(method))),
    );
  }

  #hear({ id, method, params, result, error }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#asked.get(id);
      this.#asked.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === 'Runtime.exceptionThrown') {
      this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === 'Log.entryAdded' && params.entry.level === 'error') {
      this.problems.push(`${params.entry.text} ${params.entry.url ?? ''}`);
    }
  }

  ask(method, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Returns the value of an expression in the page. If it is a promise, waits for its value. */
  async value(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', asked);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true. */
  async until(expression, seconds = 60) {
    for (let n = 0; n < seconds * 10; n++) {
      // The page may be between two documents.
      if (await this.value(`Boolean(${expression})`).catch(() => false)) return;
      await pause(100);
    }
    throw new Error(`not within ${seconds} s: ${expression}`);
  }

  async size(width, height) {
    await this.ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  }

  go(url) {
    return this.ask('Page.navigate', { url });
  }

  /** Types a text into the element that has the focus. */
  type(text) {
    return this.ask('Input.insertText', { text });
  }

  /** Presses a key. */
  async press(key, { code = key, number = 0, modifiers = 0, text } = {}) {
    const event = { key, code, windowsVirtualKeyCode: number, modifiers, text };
    await this.ask('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event });
    await this.ask('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  enter() {
    return this.press('Enter', { number: 13, text: '\r' });
  }

  /** Returns a picture of the page (PNG). */
  async picture() {
    const { data } = await this.ask('Page.captureScreenshot');
    return Buffer.from(data, 'base64');
  }
}
