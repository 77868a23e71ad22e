// The files pane, which shows one folder of the session at a time.

import { bytes, element, read, saveAs } from './page.js';

const HOME = '/home/user';
const byId = (id) => document.getElementById(id);

export class Files {
  folder = HOME;
  #session;
  #open;
  #changed;
  #failed;

  /**
   * @param {{ session: () => object, open: (path: string) => unknown, changed: () => unknown,
   *   failed: (error: Error) => void }} parts
   */
  constructor({ session, open, changed, failed }) {
    [this.#session, this.#open, this.#changed, this.#failed] = [session, open, changed, failed];
    byId('up').addEventListener('click', () => this.#go(this.folder.replace(/\/[^/]*$/, '') || '/'));
    byId('upload').addEventListener('click', async () => this.#take(await bytes({ multiple: true })));
    byId('zip').addEventListener('click', () => this.#zip());
    const pane = byId('files');
    const dropping = (is) => (event) => {
      event.preventDefault();
      pane.classList.toggle('dropping', is);
    };
    pane.addEventListener('dragover', dropping(true));
    pane.addEventListener('dragleave', dropping(false));
    pane.addEventListener('drop', async (event) => {
      dropping(false)(event);
      await this.#take(await read(event.dataTransfer.files));
    });
  }

  #at(name) {
    return `${this.folder === '/' ? '' : this.folder}/${name}`;
  }

  async #try(act) {
    try {
      await act();
    } catch (error) {
      this.#failed(error);
    }
  }

  #take(files) {
    return this.#try(async () => {
      // Files that were chosen together are one commit.
      for (const [n, { name, data }] of files.entries()) {
        await this.#session().write(this.#at(name), data, { commit: n === files.length - 1 });
      }
      await this.#changed();
    });
  }

  /** Downloads the folder, with all that is below it, as a `.zip`. */
  #zip() {
    return this.#try(async () => {
      const data = await this.#session().zip(this.folder);
      saveAs(`${this.folder.split('/').pop() || 'files'}.zip`, data, 'application/zip');
    });
  }

  #go(folder) {
    this.folder = folder;
    return this.#try(() => this.refresh());
  }

  async refresh() {
    let entries;
    try {
      entries = await this.#session().list(this.folder);
    } catch {
      // The folder has been deleted.
      this.folder = HOME;
      entries = await this.#session().list(HOME);
    }
    byId('folder').textContent = this.folder;
    byId('up').disabled = this.folder === '/';
    entries.sort((a, b) => b.isDirectory - a.isDirectory || a.path.localeCompare(b.path));
    byId('entries').replaceChildren(...entries.map((entry) => this.#entry(entry)));
    if (entries.length === 0) byId('entries').append(element('li', { class: 'path' }, 'Nothing is here. Drop files, or upload them.'));
  }

  #entry({ path, isDirectory, size }) {
    const name = path.split('/').pop();
    const whole = this.#at(name);
    if (isDirectory) {
      return element('li', {}, element('button', { class: 'open folder', onclick: () => this.#go(whole) }, `${name}/`));
    }
    const open = () => this.#try(() => this.#open(whole));
    const download = () => this.#try(async () => saveAs(name, await this.#session().read(whole)));
    const unpack = () => this.#try(async () => {
      const session = this.#session();
      await session.unzip(await session.read(whole), this.folder);
      await this.#changed();
    });
    const remove = () => this.#try(async () => {
      await this.#session().delete(whole);
      await this.#changed();
    });
    return element(
      'li',
      {},
      element('button', { class: 'open', title: `${size} bytes`, onclick: open }, name),
      ...(/\.zip$/i.test(name) ? [element('button', { class: 'more', onclick: unpack, 'aria-label': `Unpack ${name}` }, 'Unpack')] : []),
      element('button', { class: 'more', 'aria-label': `Download ${name}`, title: 'Download', onclick: download }, '\u2193'),
      element('button', { class: 'more', 'aria-label': `Delete ${name}`, title: 'Delete', onclick: remove }, '\u00d7'),
    );
  }
}
