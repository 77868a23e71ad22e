// The terminal: lines are edited here and run by the session's shell. While a command runs, lines are its input.

import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Screen } from '@xterm/xterm';
import { Line } from './line.js';

const THEMES = {
  light: { background: '#ffffff', foreground: '#17201d', cursor: '#0b5d4e', selectionBackground: '#bcd8cd', green: '#0b5d4e', red: '#9f1d1d' },
  dark: { background: '#1c2124', foreground: '#e6eaec', cursor: '#4ec9a8', selectionBackground: '#37524a', green: '#4ec9a8', red: '#ff9a94' },
};
const HOME = '/home/user';

/** Input of a command: what is typed, until its end. */
class Input {
  #parts = [];
  #wake = () => {};
  #isOver = false;

  push(text) {
    this.#parts.push(text);
    this.#wake();
  }

  end() {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#parts.length > 0) yield this.#parts.shift();
      if (this.#isOver) return;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }
}

export class Terminal {
  #screen = new Screen({ convertEol: true, fontSize: 13, scrollback: 5000, fontFamily: 'ui-monospace, monospace' });
  #fit = new FitAddon();
  /** The frame in which it takes its size. */
  #frame = 0;
  #line;
  #input = null;
  #session;
  #run;
  /** Lines that were pasted and wait for the one that runs. */
  #pasted = [];
  /** What was typed between a line's end and the beginning of its command: input of that. */
  #ahead = [];
  #mayLeave = false;
  /** What is typed of a command so far, if its lines are not all there. */
  #before = '';

  /** @param {{ run: (line: string, io: object) => Promise<object>, session: () => object }} parts */
  constructor(parent, { run, session }) {
    [this.#run, this.#session] = [run, session];
    this.#screen.loadAddon(this.#fit);
    this.#screen.open(parent);
    this.#screen.textarea.setAttribute('aria-describedby', 'terminal-hint');
    this.#line = new Line(this.#screen);
    this.#screen.onData((data) => this.#typed(data));
    this.#screen.attachCustomKeyEventHandler((event) => this.#key(event));
    new ResizeObserver(() => this.fit()).observe(parent);
    this.#reader(document.getElementById('reader'));
  }

  /** Telling a screen reader of each line is for those who have one: keyboards on screens cannot type meanwhile. */
  #reader(button) {
    const set = (isOn) => {
      this.#screen.options.screenReaderMode = isOn;
      button.setAttribute('aria-pressed', isOn);
    };
    set(localStorage.getItem('reader') === 'on');
    button.addEventListener('click', () => {
      const isOn = button.getAttribute('aria-pressed') !== 'true';
      localStorage.setItem('reader', isOn ? 'on' : 'off');
      set(isOn);
    });
  }

  /** Whether it waits for a line. */
  get isReady() {
    return this.#line.isActive;
  }

  /**
   * Takes the size of its pane. One that is not shown has none: lines would be wrapped at two columns, and scrolled away. In the
   * frame that shows it the screen does not draw yet, and would go on with the old height: it had a scrollbar for nothing.
   */
  fit() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#frame = requestAnimationFrame(() => {
        if (this.#screen.element.parentElement.clientHeight > 0) this.#fit.fit();
      });
    });
  }

  theme(isDark) {
    this.#screen.options.theme = THEMES[isDark ? 'dark' : 'light'];
  }

  /** Begins anew, with a session that is there. */
  async begin() {
    this.#screen.reset();
    this.#screen.write('bash, Unix tools, Python and JavaScript, in this page alone.\n');
    await this.#prompt();
  }

  /** Keys that are the page's: after Escape, Tab goes on to the next element. */
  #key(event) {
    if (event.type !== 'keydown') return true;
    const leaves = event.key === 'Tab' && this.#mayLeave;
    this.#mayLeave = event.key === 'Escape' || (event.key === 'Shift' && this.#mayLeave);
    return !leaves;
  }

  async #prompt() {
    const directory = await this.#session().cwd();
    const shown = directory === HOME || directory.startsWith(`${HOME}/`) ? `~${directory.slice(HOME.length)}` : directory;
    this.#line.begin(`\x1b[32m${shown}\x1b[0m$ `, shown.length + 2);
  }

  #typed(data) {
    // A paste comes at once, with its lines.
    const [first, ...rest] = data.length > 1 && !data.startsWith('\x1b') ? data.split(/(?<=\r)/) : [data];
    this.#pasted.push(...rest);
    this.#one(first);
  }

  #one(data) {
    if (this.#input !== null) return this.#fed(data);
    if (!this.#line.isActive) return void this.#ahead.push(data);
    if (data === '\t') return void this.#complete();
    if (data === '\x03') {
      this.#line.end('^C');
      this.#before = '';
      return void this.#prompt();
    }
    const ends = data.endsWith('\r');
    const text = ends ? data.slice(0, -1) : data;
    if (text !== '') this.#line.key(text);
    if (ends) this.#enter().catch((error) => this.#screen.write(`\x1b[31m${error.message}\x1b[0m\n`));
  }

  /** What is typed while a command runs is its input, line by line. */
  #fed(data) {
    if (data === '\x03') return this.#session().interrupt();
    if (data === '\x04') return this.#input.end();
    const text = data.replaceAll('\r', '\n');
    this.#screen.write(text);
    this.#input.push(text);
  }

  async #enter() {
    const line = this.#line.end();
    const text = this.#before + line;
    if (await this.#isPart(text)) {
      this.#before = `${text}\n`;
      this.#line.begin('> ', 2);
    } else {
      this.#before = '';
      await this.#whole(text);
      await this.#prompt();
    }
    for (const data of this.#ahead.splice(0)) this.#one(data);
    const next = this.#pasted.shift();
    if (next !== undefined) this.#one(next);
  }

  /** Runs what is a command. */
  async #whole(text) {
    if (text.trim() === '') return;
    this.#line.remember(text);
    if (text.trim() === 'clear') this.#screen.clear();
    else await this.#command(text);
  }

  /** Whether more lines must come before it is a command. */
  async #isPart(text) {
    return !(await this.#session().isComplete(text));
  }

  async #command(text) {
    this.#input = new Input();
    for (const data of this.#ahead.splice(0)) this.#fed(data);
    let last = '\n';
    const write = (told) => {
      last = told.at(-1) ?? last;
      this.#screen.write(told);
    };
    try {
      const outcome = await this.#run(text, { stdin: this.#input, onStdout: write, onStderr: write });
      if (outcome.limitHit) write(`\x1b[31mended: ${outcome.limitHit}\x1b[0m\n`);
    } finally {
      this.#input.end();
      this.#input = null;
      if (last !== '\n') this.#screen.write('\n');
    }
  }

  /** Completes a name of a command or a file. */
  async #complete() {
    const word = /[^\s'"|&;<>()]*$/.exec(this.#line.before)[0];
    const isCommand = this.#line.before.slice(0, -word.length || undefined).trim() === '' && !word.includes('/');
    const slash = word.lastIndexOf('/') + 1;
    const folder = isCommand ? '/bin' : word.slice(0, slash) || '.';
    let entries;
    try {
      entries = await this.#session().list(folder.replace(/^~/, HOME));
    } catch {
      // There is no such folder.
      return;
    }
    const begun = word.slice(slash);
    const fits = entries.map(({ path, isDirectory }) => path.split('/').pop() + (isDirectory ? '/' : ''));
    const names = fits.filter((name) => name.startsWith(begun)).sort();
    if (names.length === 0) return;
    const common = names.reduce((a, b) => {
      let n = 0;
      while (n < a.length && a[n] === b[n]) n++;
      return a.slice(0, n);
    });
    const rest = common.slice(begun.length);
    if (names.length === 1) this.#line.key(rest + (common.endsWith('/') ? '' : ' '));
    else if (rest !== '') this.#line.key(rest);
    else this.#line.above(names.slice(0, 60).join('  '));
  }
}
