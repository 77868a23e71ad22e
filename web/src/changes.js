// The history pane, which shows the commits with their changes, and offers undo, redo and restore.

import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { basicSetup, EditorView } from 'codemirror';
import { dark, language } from './editor.js';
import { element } from './page.js';

/** The maximum number of commits that are shown. */
const SHOWN = 200;
const byId = (id) => document.getElementById(id);

export class Changes {
  #session;
  #changed;
  #failed;
  #isDark = false;
  #views = [];
  #number = 0;

  /**
   * @param {{ session: () => object, changed: () => unknown,
   *   failed: (error: Error) => void }} parts
   */
  constructor({ session, changed, failed }) {
    [this.#session, this.#changed, this.#failed] = [session, changed, failed];
    byId('undo').addEventListener('click', () => this.#go((s) => s.undo()));
    byId('redo').addEventListener('click', () => this.#go((s) => s.redo()));
    byId('restore').addEventListener('click', () => {
      byId('changes').close();
      this.#go((s) => s.restore(this.#number));
    });
    byId('changes').addEventListener('close', () => {
      for (const view of this.#views.splice(0)) view.destroy();
      byId('diffs').replaceChildren();
    });
  }

  theme(isDark) {
    this.#isDark = isDark;
  }

  async #go(act) {
    try {
      await act(this.#session());
      await this.#changed();
    } catch (error) {
      this.#failed(error);
    }
  }

  async refresh() {
    const session = this.#session();
    const [head, all] = [await session.head(), await session.history()];
    const list = byId('commits');
    list.replaceChildren(...all.slice(-SHOWN).reverse().map((commit) => this.#commit(commit, head)));
    byId('redo').disabled = !all.some(({ parent }) => parent === head);
    byId('undo').disabled = all.find(({ number }) => number === head)?.parent == null;
  }

  #commit({ number, command, changedFiles, time, exitCode }, head) {
    const first = command.split('\n').find((line) => line.trim() !== '') ?? (number === 1 ? 'the beginning' : 'a cell');
    const when = new Date(time * 1000).toLocaleTimeString();
    const status = exitCode ? `, status ${exitCode}` : '';
    const files = changedFiles > 0 ? `, ${changedFiles} ${changedFiles === 1 ? 'file' : 'files'}` : '';
    const button = element(
      'button',
      { onclick: () => this.#show(number, first).catch(this.#failed) },
      element('code', {}, first),
      element('small', {}, `${number}: ${when}${files}${status}`),
    );
    if (number === head) button.setAttribute('aria-current', 'step');
    return element('li', {}, button);
  }

  /** Shows the changes of a commit. */
  async #show(number, title) {
    const changes = await this.#session().changes(number);
    this.#number = number;
    byId('changes-title').textContent = `${number}: ${title}`;
    const diffs = byId('diffs');
    diffs.replaceChildren();
    byId('changes').showModal();
    if (changes.length === 0) diffs.append(element('p', {}, 'This commit changed no files.'));
    for (const change of changes) this.#diff(diffs, change);
  }

  #diff(parent, { path, change, before, after }) {
    parent.append(element('h3', {}, `${path} (${change})`));
    if (before === null && after === null) {
      parent.append(element('p', { class: 'empty' }, 'This is not text, or it is too long to be shown.'));
      return;
    }
    const label = EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': `Changes of ${path}` });
    const merge = unifiedMergeView({ original: before ?? '', mergeControls: false, collapseUnchanged: {} });
    const extensions = [basicSetup, EditorState.readOnly.of(true), label, language(path), merge, this.#isDark ? dark : []];
    this.#views.push(new EditorView({ parent, state: EditorState.create({ doc: after ?? '', extensions }) }));
  }
}
