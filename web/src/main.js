// The playground, which puts the panes together. Each pane has its own module.

import '@xterm/xterm/css/xterm.css';
import './playground.css';
import { persist, remove, Session, sessions, storage } from './index.js';
import { Changes } from './changes.js';
import { Editor } from './editor.js';
import { EXAMPLES } from './examples.js';
import { Files } from './files.js';
import { bytes, saveAs, show } from './page.js';
import { Results } from './results.js';
import { isolated } from './isolation.js';
import { fromLink, Sharing } from './sharing.js';
import { Terminal } from './terminal.js';

const STORE = 'playground';
const byId = (id) => document.getElementById(id);
/** The longest draft that is kept, in characters of its JSON. */
const MAX_DRAFT = 1 << 20;
const LANGUAGES = { py: 'python', js: 'javascript', mjs: 'javascript' };

class Playground {
  #session = null;
  #running = 0;

  constructor() {
    const session = () => this.#session;
    const failed = (error) => show(error.message, true);
    this.editor = new Editor(byId('code'), {
      run: () => byId('run').click(),
      save: () => byId('save').click(),
      changed: () => this.#keepDraft(),
    });
    this.results = new Results(byId('log'));
    this.files = new Files({ session, open: (path) => this.open(path), changed: () => this.refresh(), failed });
    this.history = new Changes({ session, changed: () => this.refresh(), failed });
    this.terminal = new Terminal(byId('screen'), { run: (line, io) => this.command(line, io), session });
    new Sharing({ session, failed });
    this.#buttons();
    this.#panes();
    this.#theme();
  }

  #on(id, act, event = 'click') {
    byId(id).addEventListener(event, (of) => {
      Promise.resolve(act(of)).catch((error) => show(error.message, true));
    });
  }

  #buttons() {
    this.#on('file', () => this.#keepDraft(), 'input');
    this.#on('run', () => this.run());
    this.#on('save', () => this.save());
    this.#on('stop', () => this.#session.interrupt());
    this.#on('clear', () => this.results.clear());
    this.#on('new-session', () => this.begin(this.#free()));
    this.#on('delete-session', () => this.#delete());
    this.#on('load', () => this.#load());
    this.#on('session', ({ target }) => this.begin(target.value), 'change');
    const list = byId('example');
    for (const [n, { title }] of EXAMPLES.entries()) list.append(new Option(title, n));
    this.#on('example', async () => {
      const chosen = EXAMPLES[list.value];
      list.value = '';
      if (chosen) await this.example(chosen);
    }, 'change');
  }

  /** Sets up the buttons that show one pane at a time where there is no room for all. */
  #panes() {
    const buttons = [...document.querySelectorAll('nav button')];
    this.pane = (name) => {
      for (const button of buttons) {
        const { pane } = button.dataset;
        byId(pane).classList.toggle('shown', pane === name);
        if (pane === name) button.setAttribute('aria-current', 'page');
        else button.removeAttribute('aria-current');
      }
      this.terminal.fit();
    };
    for (const button of buttons) button.addEventListener('click', () => this.pane(button.dataset.pane));
    this.pane('editor');
  }

  #theme() {
    const button = byId('theme');
    const set = (isDark) => {
      document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
      button.setAttribute('aria-pressed', isDark);
      for (const part of [this.editor, this.terminal, this.history]) part.theme(isDark);
    };
    const chosen = localStorage.getItem('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    set(chosen === 'dark');
    button.addEventListener('click', () => {
      const isDark = document.documentElement.dataset.theme !== 'dark';
      localStorage.setItem('theme', isDark ? 'dark' : 'light');
      set(isDark);
    });
  }

  #names = [];

  /** Returns a name that no session has. */
  #free(base = 'session') {
    for (let n = 1; ; n++) if (!this.#names.includes(`${base}-${n}`)) return `${base}-${n}`;
  }

  /** Opens or creates a session, from `snapshot` if that is given. */
  async begin(name, snapshot) {
    await this.#session?.close();
    this.#session = null;
    this.#busy(1);
    try {
      const options = { baseUrl: './', store: STORE, name, onProgress, log: (text) => console.error(text) };
      this.#session = await (snapshot ? Session.load(snapshot, options) : Session.create(options));
      localStorage.setItem('session', name);
      this.#restoreDraft(name);
      await this.#list(name);
      this.files.folder = await this.#session.cwd();
      this.results.clear();
      await this.refresh();
      await this.terminal.begin();
      show(await room());
    } finally {
      this.#busy(-1);
    }
  }

  async #list(current) {
    this.#names = await sessions(STORE);
    byId('session').replaceChildren(...this.#names.map((name) => new Option(name, name, false, name === current)));
  }

  async #delete() {
    const name = byId('session').value;
    if (!confirm(`Delete session ${name} with its files?`)) return;
    await this.#session?.close();
    await remove(STORE, name);
    localStorage.removeItem(draftKey(name));
    await this.#list();
    await this.begin(this.#names[0] ?? 'session-1');
  }

  async #load() {
    const [file] = await bytes({ accept: '.wbs' });
    if (file) await this.begin(this.#free(), file.data);
  }

  /** Adds `by` to the number of running operations, and shows in the page whether there are any. */
  #busy(by) {
    this.#running += by;
    const isBusy = this.#running > 0;
    byId('run').disabled = isBusy;
    byId('stop').disabled = !isBusy || this.#session === null;
    document.body.setAttribute('aria-busy', isBusy);
  }

  async refresh() {
    await Promise.all([this.files.refresh(), this.history.refresh()]);
  }

  async open(path) {
    const data = await this.#session.read(path);
    let text;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(data);
    } catch {
      return saveAs(path.split('/').pop(), data);
    }
    if (!this.#mayReplace(path)) return;
    this.#edit(path, text);
    this.results.preview(path, data);
    this.pane('editor');
  }

  /** Shows a file's text in the editor. */
  #edit(path, text) {
    byId('file').value = path;
    this.editor.set(path, text);
    this.editor.markSaved();
    this.#keepDraft();
  }

  /** Returns whether the editor's text may be replaced. If it is not saved, asks the person. */
  #mayReplace(path) {
    const name = byId('file').value.trim() || 'The text';
    return !this.editor.isChanged || confirm(`${name} has changes that are not saved. Open ${path} instead of it?`);
  }

  /** Keeps the editor's text in the browser, so that it is there after a reload. */
  #keepDraft() {
    const name = localStorage.getItem('session');
    if (this.#session === null || name === null) return;
    const { text, isChanged } = this.editor;
    const draft = JSON.stringify({ path: byId('file').value, text, isChanged });
    try {
      if (draft.length <= MAX_DRAFT) localStorage.setItem(draftKey(name), draft);
      else localStorage.removeItem(draftKey(name));
    } catch {
      // The browser has no room for the draft.
    }
  }

  /** Shows the text that was edited in a session before the page was left. */
  #restoreDraft(name) {
    const draft = localStorage.getItem(draftKey(name));
    if (draft === null) return;
    const { path, text, isChanged } = JSON.parse(draft);
    byId('file').value = path;
    this.editor.set(path, text);
    if (!isChanged) this.editor.markSaved();
  }

  /**
   * Opens an example and runs it. Asks the person before it replaces files of the session that are
   * not the example's.
   */
  async example({ name, text, files = {} }) {
    if (!this.#mayReplace(name)) return;
    const given = Object.entries({ ...files, [name]: text });
    const others = [];
    for (const [path, content] of given) {
      if (await this.#session.exists(path) && await this.#session.readText(path) !== content) others.push(path);
    }
    if (others.length > 0 && !confirm(`Replace ${others.join(' and ')} with those of the example?`)) return;
    for (const [path, content] of Object.entries(files)) await this.#session.write(path, content, { commit: false });
    this.#edit(name, text);
    this.pane('editor');
    await this.run();
  }

  /**
   * Writes the editor's text to its file, as a commit or as a part of the next call's commit.
   * Returns the file's path.
   */
  async #write({ commit }) {
    const path = byId('file').value.trim();
    if (path === '') throw new Error('The file needs a name');
    await this.#session.write(path, this.editor.text, { commit });
    this.editor.set(path);
    this.editor.markSaved();
    this.#keepDraft();
    return path;
  }

  async save() {
    const path = await this.#write({ commit: true });
    await this.refresh();
    show(`${path} is saved`);
  }

  /**
   * Saves the editor's text and runs it: Python and JavaScript as cells, everything else in the
   * shell. Both are one commit, so one undo takes both back.
   */
  async run() {
    const path = await this.#write({ commit: false });
    const language = LANGUAGES[path.split('.').pop()];
    this.#busy(1);
    try {
      const run = language ? this.#session[language](this.editor.text) : this.#session.exec(this.editor.text);
      await this.#show(path, await run);
    } catch (error) {
      this.results.failed(path, error);
    } finally {
      this.#busy(-1);
    }
    this.pane('results');
    await this.refresh();
  }

  /** Runs a line of the terminal. */
  async command(line, io) {
    this.#busy(1);
    try {
      const outcome = await this.#session.exec(line, io);
      const pictures = await outcome.figures();
      if (pictures.length > 0) this.results.add(line, { ...outcome, stdout: '', stderr: '', valueRepr: null }, pictures);
      await this.refresh();
      return outcome;
    } finally {
      this.#busy(-1);
    }
  }

  async #show(title, outcome) {
    this.results.add(title, outcome, await outcome.figures());
    show(outcome.ok ? await room() : `Ended with status ${outcome.exitCode}`, !outcome.ok);
  }
}

/** Returns the key under which a session's draft is kept. */
const draftKey = (session) => `draft:${session}`;

const mega = (n) => (n / 1e6).toFixed(1);

function onProgress({ name, loaded, total }) {
  show(loaded < total ? `Loading ${name}: ${mega(loaded)} of ${mega(total)} MB` : `Preparing ${name}`);
}

/** Returns a text that says how much the browser keeps, and how much it may keep. */
async function room() {
  const { usage, quota, isPersisted } = await storage();
  return `${mega(usage)} MB stored of ${(quota / 1e9).toFixed(0)} GB${isPersisted ? ', kept until you delete it' : ''}`;
}

async function begin() {
  if (!(await isolated())) return;
  const playground = new Playground();
  window.playground = playground;
  const { name, text } = EXAMPLES[0];
  byId('file').value = name;
  playground.editor.set(name, text);
  playground.editor.markSaved();
  const shared = fromLink();
  const names = await sessions(STORE);
  const last = localStorage.getItem('session');
  const free = `shared-${Date.now().toString(36)}`;
  if (shared) await playground.begin(free, shared);
  else await playground.begin(names.includes(last) ? last : (names[0] ?? 'session-1'));
  // Chromium decides by itself. Firefox would ask the person, and should not do so before the
  // person has done anything.
  if (!/Firefox/.test(navigator.userAgent)) await persist();
}

begin().catch((error) => {
  console.error(error);
  show(error.message, true);
});
