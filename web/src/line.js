// A line that is edited in a terminal as in a shell, with the keys of Emacs and a history of lines.

/** Returns the characters of a text as a terminal counts them: a surrogate pair is one. */
const characters = (text) => [...text];

export class Line {
  #screen;
  #prompt = '';
  #width = 0;
  #text = [];
  #at = 0;
  #lines = [];
  /** The index of the earlier line that is shown, and the text that the person was typing. */
  #shown = 0;
  #own = [];
  /** The row of the cursor, counted from the prompt's. */
  #row = 0;
  isActive = false;

  constructor(screen) {
    this.#screen = screen;
  }

  /** Begins a line after a prompt that is `width` columns wide. */
  begin(prompt, width) {
    [this.#prompt, this.#width] = [prompt, width];
    [this.#text, this.#at, this.#row] = [[], 0, 0];
    this.#shown = this.#lines.length;
    this.isActive = true;
    this.#draw();
  }

  /** Ends the line and returns its text. `after` is shown after it. */
  end(after = '') {
    this.#at = this.#text.length;
    this.#draw();
    this.#screen.write(`${after}\r\n`);
    this.isActive = false;
    return this.#text.join('');
  }

  remember(text) {
    if (this.#lines.at(-1) !== text) this.#lines.push(text);
  }

  /** The text before the cursor. */
  get before() {
    return this.#text.slice(0, this.#at).join('');
  }

  /** Shows a text above the line. */
  above(text) {
    this.#screen.write(`\r\n${text}\r\n`);
    this.#row = 0;
    this.#draw();
  }

  /** Handles a key, which is given as terminals send it, or inserts a text. */
  key(data) {
    const act = KEYS[data];
    if (act) act.call(this);
    else if (!/^[\x00-\x1f]/.test(data)) this.#put(characters(data.replace(/[\x00-\x1f]/g, ' ')));
    this.#draw();
  }

  #put(some) {
    this.#text.splice(this.#at, 0, ...some);
    this.#at += some.length;
  }

  left() {
    this.#at = Math.max(0, this.#at - 1);
  }

  right() {
    this.#at = Math.min(this.#text.length, this.#at + 1);
  }

  home() {
    this.#at = 0;
  }

  toEnd() {
    this.#at = this.#text.length;
  }

  /** Removes the text between the cursor and the index `to`. */
  #cut(to) {
    const [from, end] = [Math.min(this.#at, to), Math.max(this.#at, to)];
    this.#text.splice(from, end - from);
    this.#at = from;
  }

  backspace() {
    if (this.#at > 0) this.#cut(this.#at - 1);
  }

  delete() {
    if (this.#at < this.#text.length) this.#cut(this.#at + 1);
  }

  cutLine() {
    this.#cut(0);
  }

  cutRest() {
    this.#cut(this.#text.length);
  }

  cutWord() {
    this.#cut(this.before.replace(/\S*\s*$/, '').length);
  }

  clear() {
    this.#screen.clear();
  }

  #show(n) {
    if (n < 0 || n > this.#lines.length) return;
    if (this.#shown === this.#lines.length) this.#own = this.#text;
    this.#shown = n;
    this.#text = n === this.#lines.length ? this.#own : characters(this.#lines[n].replaceAll('\n', '; '));
    this.#at = this.#text.length;
  }

  older() {
    this.#show(this.#shown - 1);
  }

  newer() {
    this.#show(this.#shown + 1);
  }

  /** Draws the prompt and the line again, and puts the cursor in its place. */
  #draw() {
    const { cols } = this.#screen;
    const up = this.#row > 0 ? `\x1b[${this.#row}A` : '';
    const all = this.#width + this.#text.length;
    const at = this.#width + this.#at;
    // When a row is full, a terminal moves the cursor to the next row only with the next character.
    const wrap = all > 0 && all % cols === 0 ? '\r\n' : '';
    const [lastRow, row] = [Math.floor(all / cols), Math.floor(at / cols)];
    const back = lastRow > row ? `\x1b[${lastRow - row}A` : '';
    const column = at % cols > 0 ? `\x1b[${at % cols}C` : '';
    this.#screen.write(`${up}\r\x1b[J${this.#prompt}${this.#text.join('')}${wrap}${back}\r${column}`);
    this.#row = row;
  }
}

const { prototype } = Line;
const KEYS = {
  '\x7f': prototype.backspace,
  '\b': prototype.backspace,
  '\x1b[3~': prototype.delete,
  '\x04': prototype.delete,
  '\x1b[D': prototype.left,
  '\x02': prototype.left,
  '\x1b[C': prototype.right,
  '\x06': prototype.right,
  '\x1b[H': prototype.home,
  '\x01': prototype.home,
  '\x1b[F': prototype.toEnd,
  '\x05': prototype.toEnd,
  '\x1b[A': prototype.older,
  '\x10': prototype.older,
  '\x1b[B': prototype.newer,
  '\x0e': prototype.newer,
  '\x15': prototype.cutLine,
  '\x0b': prototype.cutRest,
  '\x17': prototype.cutWord,
  '\x0c': prototype.clear,
};
