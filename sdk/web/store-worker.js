// Has a session's file open: only a worker may write one so that it is on the disk when the write has returned.

/** How long to wait for a page that is just being left, which has the file still. */
const PATIENCE = 5000;
const PAUSE = 50;

let handle;
let end = 0;

async function opened(file) {
  const until = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

function written(bytes) {
  for (let done = 0; done < bytes.length; ) {
    const n = handle.write(bytes.subarray(done), { at: end + done });
    if (n === 0) throw new Error('there is no room');
    done += n;
  }
  handle.flush();
}

const answers = {
  /** Opens the file; gives what is in it. */
  async open({ path }) {
    let folder = await navigator.storage.getDirectory();
    for (const name of path.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
    handle = await opened(await folder.getFileHandle(path.at(-1), { create: true }));
    end = handle.getSize();
    const bytes = new Uint8Array(end);
    let n = 0;
    while (n < end) {
      const more = handle.read(bytes.subarray(n), { at: n });
      if (more === 0) throw new Error('the file cannot be read');
      n += more;
    }
    return bytes;
  },
  cut({ length }) {
    handle.truncate(length);
    handle.flush();
    end = length;
  },
  append({ bytes }) {
    try {
      written(bytes);
    } catch (error) {
      // Nothing of it may stay before what is written next.
      handle.truncate(end);
      throw error;
    }
    end += bytes.length;
  },
  close() {
    handle?.close();
  },
};

/** Messages are answered in their order: `open` takes its time. */
let queue = Promise.resolve();
onmessage = ({ data }) => {
  queue = queue.then(async () => {
    try {
      const value = await answers[data.type](data);
      postMessage({ value }, value instanceof Uint8Array ? [value.buffer] : []);
    } catch (error) {
      postMessage({ error: { name: error.name, text: error.message } });
    }
  });
};
