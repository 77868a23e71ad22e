// The terminal pane. Lines are edited here and run by the session's shell, each on a terminal of the
// session: programs of the whole screen, prompts and colours work, and keys go to what runs. So each
// line is a commit, which can be undone.

import { Line } from './line.js';
import { FitAddon, Terminal as Screen } from './xterm.js';

const THEMES = {
  light: { background: '#ffffff', foreground: '#17201d', cursor: '#0b5d4e', selectionBackground: '#bcd8cd', green: '#0b5d4e', red: '#9f1d1d' },
  dark: { background: '#1c2124', foreground: '#e6eaec', cursor: '#4ec9a8', selectionBackground: '#37524a', green: '#4ec9a8', red: '#ff9a94' },
};
const HOME = '/home/user';

/** Modes that a program may have left: the other screen, the pointer's reports, keys, the cursor. */
const RESET = '\x1b[?1000;1002;1003;1004;1006;2004l\x1b[?1l\x1b>\x1b[?25h\x1b[0m';

/** The keys that are typed for a command, until it has ended. */
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
  #screen = new Screen({ fontSize: 13, scrollback: 5000, fontFamily: 'ui-monospace, monospace' });
  #fit = new FitAddon();
  /** The animation frame in which the terminal takes its size. */
  #frame = 0;
  #line;
  #input = null;
  #session;
  #run;
  /** Pasted lines that wait for the end of the line that runs. */
  #pasted = [];
  /** Text typed between a line's end and the start of its command, whose input it becomes. */
  #ahead = [];
  #mayLeave = false;
  /** The lines so far of a command that is not complete. */
  #before = '';

  /**
   * @param {{ run: (line: string, io: object) => Promise<object>, session: () => object }} parts
   */
  constructor(parent, { run, session }) {
    [this.#run, this.#session] = [run, session];
    this.#screen.loadAddon(this.#fit);
    this.#screen.open(parent);
    this.#screen.textarea.setAttribute('aria-describedby', 'terminal-hint');
    this.#line = new Line(this.#screen);
    this.#screen.onData((data) => this.#typed(data));
    this.#screen.onBinary((data) => this.#typed(data));
    this.#screen.onResize((size) => this.#input && this.#session().resize(sizeOf(size)));
    this.#screen.attachCustomKeyEventHandler((event) => this.#key(event));
    new ResizeObserver(() => this.fit()).observe(parent);
    this.#reader(document.getElementById('reader'));
  }

  /**
   * Sets up the button that has screen readers read each line. This is off unless it was chosen,
   * because on-screen keyboards cannot type in that mode.
   */
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

  /** Whether the terminal waits for a line. */
  get isReady() {
    return this.#line.isActive;
  }

  /**
   * Takes the size of the pane. A pane that is not shown is skipped, because it has no size: lines
   * would be wrapped at two columns and scroll away. In the frame in which the pane is first shown,
   * the screen does not draw yet and would keep its old height, with a needless scrollbar. So this
   * waits for the frame after that.
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

  /** Clears the terminal and begins with the session that is open now. */
  async begin() {
    this.#screen.reset();
    this.#screen.write('bash, Unix tools, Python and JavaScript, in this page alone.\r\n');
    await this.#prompt();
  }

  /** Returns whether the terminal handles a key. After Escape, Tab moves the focus in the page. */
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
    // Pasted text arrives in one piece, with all its lines.
    if (this.#input !== null) return this.#input.push(data);
    const [first, ...rest] = data.length > 1 && !data.startsWith('\x1b') ? data.split(/(?<=\r)/) : [data];
    this.#pasted.push(...rest);
    this.#one(first);
  }

  #one(data) {
    if (this.#input !== null) return this.#input.push(data);
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
    if (ends) this.#enter().catch((error) => this.#screen.write(`\x1b[31m${error.message}\x1b[0m\r\n`));
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

  /** Runs a complete command. */
  async #whole(text) {
    if (text.trim() === '') return;
    this.#line.remember(text);
    if (text.trim() === 'clear') this.#screen.clear();
    else await this.#command(text);
  }

  /** Returns whether more lines must follow before `text` is a complete command. */
  async #isPart(text) {
    return !(await this.#session().isComplete(text));
  }

  async #command(text) {
    this.#input = new Input();
    for (const data of this.#ahead.splice(0)) this.#input.push(data);
    const onScreen = (bytes) => new Promise((resolve) => this.#screen.write(bytes, resolve));
    try {
      const outcome = await this.#run(text, { stdin: this.#input, terminal: sizeOf(this.#screen), onScreen });
      if (outcome.limitHit) this.#screen.write(`\x1b[31mended: ${outcome.limitHit}\x1b[0m\r\n`);
    } finally {
      this.#input.end();
      this.#input = null;
      await this.#tidy();
    }
  }

  /** Leaves the modes of a program that has ended, and the line in which its output ends. */
  async #tidy() {
    const write = (text) => new Promise((resolve) => this.#screen.write(text, resolve));
    await write('');
    const { active } = this.#screen.buffer;
    await write(`${active.type === 'alternate' ? '\x1b[?1049l' : ''}${RESET}`);
    if (this.#screen.buffer.active.cursorX > 0) await write('\r\n');
  }

  /** Completes the name of a command or a file. */
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

/** Returns the size of a screen as the session has it. */
const sizeOf = ({ rows, cols: columns }) => ({ rows, columns });
