// The terminals of a session, each in a tab: an xterm.js on a pseudo-terminal of the session. A
// terminal outlives its connection. When that is cut, the page connects again, names the position up
// to which it has the output, and gets the rest.
import { FitAddon, Terminal as Screen } from "./xterm.js";

const COLOURS = {
  light: {
    background: "#ffffff", foreground: "#1c2321", cursor: "#0b5d4e", cursorAccent: "#ffffff", selectionBackground: "#bcd8cd",
    black: "#24292e", red: "#a52a22", green: "#1f6b2e", yellow: "#7d5a00", blue: "#0b4fa3", magenta: "#87308a", cyan: "#0a6570", white: "#5c6670",
    brightBlack: "#6a737d", brightRed: "#b93a32", brightGreen: "#2c7a3c", brightYellow: "#8a6500", brightBlue: "#1d62bd", brightMagenta: "#9a3f9d", brightCyan: "#127683", brightWhite: "#24292e",
  },
  dark: {
    background: "#16191b", foreground: "#e3e8ea", cursor: "#4ec9a8", cursorAccent: "#16191b", selectionBackground: "#37524a",
    black: "#2a3035", red: "#f08a80", green: "#6cc17c", yellow: "#d9b35a", blue: "#7fb2f0", magenta: "#d495d8", cyan: "#6ccbd6", white: "#cfd6da",
    brightBlack: "#8a949c", brightRed: "#ff9f96", brightGreen: "#86d895", brightYellow: "#eac873", brightBlue: "#9cc6fa", brightMagenta: "#e3abe6", brightCyan: "#86dfe9", brightWhite: "#ffffff",
  },
};
/** Output that is confirmed at once, in bytes. The server sends 256 KiB without. */
const CONFIRMED = 64 << 10;
/** The most characters of one message of typed or pasted text. */
const TYPED = 16 << 10;
/** The most characters that wait for a connection. */
const AHEAD = 4 << 10;
/** The time without output after which files and history are read again, in milliseconds. */
const QUIET = 600;
const RETRY = { first: 300, most: 8000 };
/** The reasons why a terminal has ended, by the status of its process. */
const REASONS = {
  exited: (report) => (report.exit_code ? `exited with status ${report.exit_code}` : "exited"),
  signaled: (report) => `was ended by signal ${report.exit_code - 128}`,
  limited: () => "was ended by a limit of the session",
  lost: () => "has ended, because the session was moved to another of its states or put to sleep",
};
const darkness = matchMedia("(prefers-color-scheme: dark)");
const colours = () => COLOURS[darkness.matches ? "dark" : "light"];

/** Splits a text into parts without cutting a character. */
function* parts(text) {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + TYPED);
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end--;
    yield text.slice(at, end);
    at = end;
  }
}

/** A terminal with its screen. */
class TerminalTab {
  #owner;
  #socket = null;
  #retry = RETRY.first;
  #timer = 0;
  #quiet = 0;
  /** The position up to which the output has come, up to which it was shown, and confirmed. */
  #got = null;
  #shown = 0;
  #confirmed = 0;
  /** The input that was typed while there was no connection. */
  #ahead = "";
  #isClosed = false;
  #ended = false;
  /** The number of the process, once it has begun. */
  number = null;
  command = "bash";

  constructor(owner, process) {
    this.#owner = owner;
    if (process) [this.number, this.command] = [process.process, process.command];
    this.pane = document.createElement("div");
    this.pane.className = "screen";
    this.pane.hidden = true;
    owner.screens.append(this.pane);
    this.screen = new Screen({
      fontSize: 13, scrollback: 10000, fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
      theme: colours(), allowProposedApi: false, macOptionIsMeta: true, minimumContrastRatio: 4.5,
    });
    this.fit = new FitAddon();
    this.screen.loadAddon(this.fit);
    this.screen.onData((text) => this.type(text));
    this.screen.onBinary((text) => this.type(text));
    this.screen.onResize(({ rows, cols }) => this.#say({ size: { rows, columns: cols } }));
    this.screen.attachCustomKeyEventHandler((event) => this.#key(event));
    new ResizeObserver(() => this.resize()).observe(this.pane);
  }

  /** Shows the terminal and gives it the keyboard; `begin` connects it the first time. */
  show(isShown) {
    this.pane.hidden = !isShown;
    if (!isShown) return;
    if (!this.screen.element) this.screen.open(this.pane);
    this.resize();
    if (!matchMedia("(pointer: coarse)").matches) this.screen.focus();
    if (!this.#socket && !this.#ended && !this.#isClosed) this.connect();
  }

  resize() {
    if (!this.pane.hidden && this.screen.element && this.pane.clientHeight > 0) this.fit.fit();
  }

  get isRunning() {
    return !this.#ended;
  }

  /** Whether a program would be ended that is more than a shell that waits for a command. */
  get isBusy() {
    if (this.#ended) return false;
    const { active } = this.screen.buffer;
    if (active.type === "alternate") return true;
    const line = active.getLine(active.baseY + active.cursorY);
    return !/[$#] $/.test(line ? line.translateToString(false, 0, active.cursorX) : "");
  }

  connect() {
    clearTimeout(this.#timer);
    const socket = (this.#socket = this.#owner.open());
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      const { rows, cols: columns } = this.screen;
      if (this.number === null) this.#say({ start: { command: ["bash"], rows, columns, keep: true } });
      else this.#say({ attach: { terminal: this.number, rows, columns, ...(this.#got === null ? {} : { after: this.#got }) } });
      const ahead = this.#ahead;
      this.#ahead = "";
      this.type(ahead);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#heard(JSON.parse(data)) : this.#output(new Uint8Array(data)));
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      if (this.#isClosed || this.#ended) return;
      this.#state("offline");
      this.#timer = setTimeout(() => this.connect(), this.#retry);
      this.#retry = Math.min(RETRY.most, this.#retry * 2);
    };
  }

  /** Connects at once if the connection is lost. */
  hurry() {
    if (this.#socket || this.#ended || this.#isClosed || this.#got === null) return;
    this.#retry = RETRY.first;
    this.connect();
  }

  #say(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  type(text) {
    if (this.#ended) return void (/[\r\n]/.test(text) && this.#again());
    if (this.#socket?.readyState === WebSocket.OPEN) for (const keys of parts(text)) this.#say({ keys });
    else this.#ahead = (this.#ahead + text).slice(0, AHEAD);
  }

  #output(bytes) {
    this.#got += bytes.length;
    const position = this.#got;
    this.screen.write(bytes, () => {
      this.#shown = position;
      if (this.#shown - this.#confirmed < CONFIRMED) return;
      this.#confirmed = this.#shown;
      this.#say({ shown: this.#shown });
    });
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#owner.changed(), QUIET);
  }

  #heard(message) {
    if (message.terminal !== undefined) {
      this.number = message.terminal;
      this.command = message.command || this.command;
      // The positions of a connection begin where it begins.
      this.#got = this.#shown = this.#confirmed = message.position;
      this.#retry = RETRY.first;
      this.#state("");
    } else if (message.dropped !== undefined) {
      this.#got += message.dropped;
      this.#note(`${message.dropped} bytes were skipped`);
    } else if (message.ended) {
      const reason = REASONS[message.ended.status];
      this.#end(`${message.ended.command} ${reason ? reason(message.ended) : "has ended"}`);
    } else if (message.problem) {
      // Before anything has come, this is the answer to the first message.
      if (this.#got === null || message.problem.status === 404) this.#end(message.problem.detail);
      else this.#note(message.problem.detail);
    }
  }

  #note(text) {
    this.screen.write(`\r\n\x1b[0;2m[${text}]\x1b[0m\r\n`);
  }

  #end(why) {
    this.#ended = true;
    this.#state("ended");
    // A full-screen program may have left the other screen, the pointer's reports and more.
    if (this.screen.buffer.active.type === "alternate") this.screen.write("\x1b[?1049l");
    this.screen.write("\x1b[?1000;1002;1003;1006;1004;2004l\x1b[?25h\x1b[?1l\x1b>");
    this.#note(`${why}; Enter begins another shell`);
    this.#owner.changed();
  }

  /** Begins another shell where one has ended. */
  #again() {
    [this.#ended, this.number, this.#got, this.command] = [false, null, null, "bash"];
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.connect();
  }

  #state(state) {
    this.state = state;
    this.#owner.draw();
  }

  /** Handles keys that are the page's: F6 leaves the terminal, Ctrl+C copies what is selected. */
  #key(event) {
    if (event.type !== "keydown") return true;
    if (event.key === "F6") {
      event.preventDefault();
      this.#owner.tabs.querySelector("[aria-selected=true]").focus();
      return false;
    }
    const isC = event.ctrlKey && !event.altKey && event.key.toLowerCase() === "c";
    if (isC && (this.screen.hasSelection() || event.shiftKey)) {
      event.preventDefault();
      navigator.clipboard?.writeText(this.screen.getSelection());
      this.screen.clearSelection();
      return false;
    }
    return true;
  }

  /** Leaves the terminal, which stays. */
  leave() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
    if (this.#socket) this.#socket.onmessage = null;
    this.#socket?.close();
    this.screen.dispose();
    this.pane.remove();
  }
}

export class Terminals {
  #all = [];
  #shown = null;
  /** Whether the next typed character is a control character. */
  #isControl = false;

  /**
   * @param {object} parts the elements `tabs`, `screens` and `keys`; `open` opens a socket, `changed` is
   *   called when commands may have changed something, `end` ends a process.
   */
  constructor({ tabs, screens, keys, open, changed, end }) {
    Object.assign(this, { tabs, screens, open, changed, end });
    darkness.addEventListener("change", () => this.#all.forEach((one) => (one.screen.options.theme = colours())));
    const hurry = () => this.#all.forEach((one) => one.hurry());
    addEventListener("online", hurry);
    document.addEventListener("visibilitychange", () => document.hidden || hurry());
    keys.addEventListener("click", (event) => this.#pressed(event.target.closest("button")));
    // A tap on a key must not close the on-screen keyboard.
    keys.addEventListener("pointerdown", (event) => event.preventDefault());
    this.control = keys.querySelector("[data-control]");
    screens.addEventListener("beforeinput", (event) => this.#controlled(event), true);
    tabs.addEventListener("keydown", (event) => this.#moved(event));
  }

  /** Shows the terminals of a session, given its processes on terminals; a new one if it has none. */
  enter(processes) {
    this.leave();
    for (const process of processes) this.#all.push(new TerminalTab(this, process));
    if (processes.length === 0) this.#all.push(new TerminalTab(this, null));
    this.select(this.#all[0]);
  }

  leave() {
    this.#all.splice(0).forEach((one) => one.leave());
    this.#shown = null;
    this.draw();
  }

  /** Begins another terminal. */
  add() {
    const one = new TerminalTab(this, null);
    this.#all.push(one);
    this.select(one);
  }

  select(one) {
    this.#shown = one;
    this.#all.forEach((other) => other.show(other === one));
    this.draw();
  }

  /** The terminals that would lose more than a shell that waits. */
  get busy() {
    return this.#all.filter((one) => one.isBusy);
  }

  has(number) {
    return this.#all.some((one) => one.number === number);
  }

  async close(one) {
    if (one.isRunning && one.number !== null) {
      if (one.isBusy && !confirm(`End '${one.command}' in this terminal?`)) return;
      await this.end(one.number);
    }
    one.leave();
    const at = this.#all.indexOf(one);
    this.#all.splice(at, 1);
    if (this.#all.length === 0) this.add();
    else if (this.#shown === one) this.select(this.#all[Math.min(at, this.#all.length - 1)]);
    this.draw();
  }

  draw() {
    const focused = this.tabs.contains(document.activeElement);
    this.tabs.replaceChildren(
      ...this.#all.map((one, n) => {
        const tab = document.createElement("span");
        tab.className = `tab ${one.state || ""}`;
        const name = document.createElement("button");
        Object.assign(name, { textContent: `${n + 1}: ${one.command}`, title: one.state === "offline" ? "connecting again" : one.command, onclick: () => this.select(one) });
        name.setAttribute("role", "tab");
        name.setAttribute("aria-selected", one === this.#shown);
        name.tabIndex = one === this.#shown ? 0 : -1;
        const close = document.createElement("button");
        Object.assign(close, { textContent: "×", title: "End this terminal", className: "close", onclick: () => this.close(one) });
        close.setAttribute("aria-label", `End terminal ${n + 1}`);
        tab.append(name, close);
        return tab;
      }),
    );
    if (focused) this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  /** Moves between the tabs by arrow keys; Enter, Down and F6 go to the screen. */
  #moved(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = this.#all.indexOf(this.#shown);
    if (step && this.#all[at + step]) {
      event.preventDefault();
      this.select(this.#all[at + step]);
      this.tabs.querySelector("[aria-selected=true]").focus();
    } else if (event.key === "F6" || event.key === "ArrowDown") {
      event.preventDefault();
      this.#shown?.screen.focus();
    }
  }

  /** Handles the buttons for keys that on-screen keyboards lack. */
  #pressed(button) {
    const one = this.#shown;
    if (!button || !one) return;
    if (button === this.control) return this.#setControl(!this.#isControl);
    const { text, arrow } = button.dataset;
    const lead = one.screen.modes.applicationCursorKeysMode ? "\x1bO" : "\x1b[";
    one.type(arrow ? lead + arrow : JSON.parse(`"${text}"`));
    one.screen.focus();
  }

  #setControl(isControl) {
    this.#isControl = isControl;
    this.control.setAttribute("aria-pressed", isControl);
    this.#shown?.screen.focus();
  }

  #controlled(event) {
    if (!this.#isControl || !/^[a-z@[\]^_\\]$/i.test(event.data || "")) return;
    event.preventDefault();
    event.stopPropagation();
    this.#setControl(false);
    this.#shown?.type(String.fromCharCode(event.data.toUpperCase().charCodeAt(0) & 31));
  }
}
