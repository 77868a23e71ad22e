// The editor pane: CodeMirror, with the language that the file's name indicates.

import { javascript } from '@codemirror/lang-javascript';
import { python } from '@codemirror/lang-python';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';

const LANGUAGES = {
  py: python,
  js: javascript,
  mjs: javascript,
  ts: () => javascript({ typescript: true }),
  sh: () => StreamLanguage.define(shell),
};

/** Colours for a dark background, each with a contrast ratio of at least 7. */
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: '#a9b7c0' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#d7b3f5' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: '#a8dba0' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: '#f2c08a' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: '#8fc7ff' },
  { tag: [tags.definition(tags.variableName), tags.className, tags.typeName, tags.standard(tags.name)], color: '#f0d795' },
  { tag: [tags.propertyName, tags.attributeName, tags.meta], color: '#9fd8e8' },
  { tag: tags.invalid, color: '#ff9a94' },
]);
const GROUND = EditorView.theme(
  {
    '&': { color: 'var(--text)', backgroundColor: 'var(--pane)' },
    '.cm-content': { caretColor: 'var(--main)' },
    '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--main)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: '#37524a' },
    '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--soft)', border: 'none' },
    '.cm-activeLine': { backgroundColor: '#23292d' },
    '.cm-activeLineGutter': { backgroundColor: '#2a3136' },
    '.cm-panels': { backgroundColor: 'var(--ground)', color: 'var(--text)' },
  },
  { dark: true },
);
/** CodeMirror for a dark page. */
export const dark = [GROUND, syntaxHighlighting(COLOURS)];

/** Returns CodeMirror's extension for the language of a file. */
export function language(path) {
  return LANGUAGES[path.split('.').pop()]?.() ?? [];
}

export class Editor {
  #language = new Compartment();
  #theme = new Compartment();
  #view;
  /** The text as it was last opened or saved. */
  #saved = '';

  /**
   * @param {{ run: () => unknown, save: () => unknown, changed: () => unknown }} parts `run` is
   *   called for Ctrl+Enter, `save` for Ctrl+S, and `changed` when the text has changed
   */
  constructor(parent, { run, save, changed }) {
    const key = (name, act) => ({ key: name, run: () => (act(), true) });
    const keys = Prec.highest(keymap.of([key('Mod-Enter', run), key('Mod-s', save)]));
    const label = EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': 'Text of the file' });
    const watch = EditorView.updateListener.of(({ docChanged }) => {
      if (docChanged) changed();
    });
    const extensions = [watch, keys, basicSetup, label, this.#language.of([]), this.#theme.of([])];
    this.#view = new EditorView({ parent, state: EditorState.create({ extensions }) });
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  /** Whether the text has changed since it was last opened or saved. */
  get isChanged() {
    return this.text !== this.#saved;
  }

  /** Marks the current text as saved. */
  markSaved() {
    this.#saved = this.text;
  }

  /** Shows a file. Without `text`, only the name and the language change. */
  set(path, text) {
    const effects = this.#language.reconfigure(language(path));
    const changes = text === undefined ? undefined : { from: 0, to: this.#view.state.doc.length, insert: text };
    this.#view.dispatch({ effects, changes });
  }

  theme(isDark) {
    this.#view.dispatch({ effects: this.#theme.reconfigure(isDark ? dark : []) });
  }
}
