// Functions that several panes use.

/** Shows a message in the status line. */
export function show(text, isWrong = false) {
  const status = document.getElementById('status');
  status.textContent = text;
  status.classList.toggle('wrong', isWrong);
}

/**
 * Makes an element with attributes and children. A string becomes a text node, so names of guests'
 * files are never parsed as HTML.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'onclick') made.addEventListener('click', value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Downloads bytes as a file. */
export function saveAs(name, data, type = 'application/octet-stream') {
  const url = URL.createObjectURL(new Blob([data], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Asks the person for files. Returns their names and bytes. */
export function bytes({ accept = '', multiple = false } = {}) {
  const input = element('input', { type: 'file', accept });
  input.multiple = multiple;
  return new Promise((resolve) => {
    input.addEventListener('cancel', () => resolve([]));
    input.addEventListener('change', () => resolve(read(input.files)));
    input.click();
  });
}

/** Returns the names and bytes of files. */
export function read(files) {
  return Promise.all([...files].map(async (file) => ({ name: file.name, data: new Uint8Array(await file.arrayBuffer()) })));
}

for (const button of document.querySelectorAll('[data-close]')) {
  button.addEventListener('click', () => button.closest('dialog').close());
}
