// Implements the parts of fs.cpSync that Node has in C++, with their error codes.
(function (native, host) {
'use strict';

const [DIRECTORY, LINK, FIFO, SOCKET] = [0o040000, 0o120000, 0o010000, 0o140000];
const kind = (stat) => stat ? stat[1] & 0o170000 : 0;
const isSame = (a, b) => a && b && a[0] === b[0] && a[7] === b[7];

function fail(code, message) {
  throw Object.assign(new Error(message), { code });
}

const within = (path, folder) => path === folder || path.startsWith(`${folder}/`);
const dirname = (path) => host.require('path').dirname(path);

// Refuses copies that would destroy the source or are impossible.
function checkPaths(src, dest, dereference, recursive) {
  const [from, to] = [host.absolute(src), host.absolute(dest)];
  const stat = native.tryStat(from, dereference);
  if (!stat) throw host.uvException('ENOENT', 'cp', from, to);
  const target = native.tryStat(to, dereference);
  const isDirectory = kind(stat) === DIRECTORY;
  if (isSame(stat, target)) fail('ERR_FS_CP_EINVAL', `src and dest cannot be the same ${to}`);
  if (target && isDirectory && kind(target) !== DIRECTORY) {
    fail('ERR_FS_CP_DIR_TO_NON_DIR', `Cannot overwrite non-directory ${to} with directory ${from}`);
  }
  if (target && !isDirectory && kind(target) === DIRECTORY) {
    fail('ERR_FS_CP_NON_DIR_TO_DIR', `Cannot overwrite directory ${to} with non-directory ${from}`);
  }
  if (isDirectory && !recursive) fail('ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${from}`);
  for (let parent = to; isDirectory && parent !== '/'; parent = dirname(parent)) {
    if (isSame(stat, native.tryStat(parent, true))) fail('ERR_FS_CP_EINVAL', `Cannot copy ${from} to a subdirectory of self ${to}`);
  }
  if (kind(stat) === SOCKET) fail('ERR_FS_CP_SOCKET', `Cannot copy a socket file: ${to}`);
  if (kind(stat) === FIFO) fail('ERR_FS_CP_FIFO_PIPE', `Cannot copy a FIFO pipe: ${to}`);
  host.mkdirRecursive(dirname(to), 0o777);
}

function keepTimes(from, to) {
  const s = native.stat(from, true);
  native.utimes(to, s[10] + s[11] / 1e9, s[12] + s[13] / 1e9, true);
}

function copyLink(from, to, verbatim) {
  const target = native.readlink(from);
  const whole = verbatim ? target : host.require('path').resolve(dirname(from), target);
  const old = native.tryStat(to, false);
  if (kind(old) === LINK) {
    const before = host.require('path').resolve(dirname(to), native.readlink(to));
    const isDirectory = kind(native.tryStat(whole, true)) === DIRECTORY;
    if (!verbatim && isDirectory && before !== whole && within(before, whole)) {
      fail('ERR_FS_CP_EINVAL', `Cannot copy ${whole} to a subdirectory of self ${before}`);
    }
    if (!verbatim && isDirectory && before !== whole && within(whole, before)) {
      fail('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', `cannot overwrite ${before} with ${whole}`);
    }
    native.unlink(to);
  } else if (old) {
    fail('EEXIST', `EEXIST: file already exists, cp '${from}' -> '${to}'`);
  }
  native.symlink(whole, to);
}

function copyDirectory(src, dest, force, dereference, errorOnExist, verbatim, preserve) {
  const copy = (from, to) => {
    host.mkdirRecursive(to, 0o777);
    const entries = native.readdir(from);
    for (let i = 0; i < entries.length; i += 2) {
      const [a, b] = [`${from}/${entries[i]}`, `${to}/${entries[i]}`];
      const type = kind(native.tryStat(a, dereference));
      if (type === DIRECTORY) copy(a, b);
      else if (type === LINK) copyLink(a, b, verbatim);
      else if (!native.tryStat(b, false) || force) {
        native.copy(a, b, false);
        if (preserve) keepTimes(a, b);
      } else if (errorOnExist) {
        fail('ERR_FS_CP_EEXIST', `[ERR_FS_CP_EEXIST]: Target already exists: cp returned EEXIST (${b} already exists) ${b}`);
      }
    }
  };
  copy(host.absolute(src), host.absolute(dest));
}

host.copying = {
  cpSyncCheckPaths: checkPaths,
  cpSyncOverrideFile(src, dest, mode, preserve) {
    const [from, to] = [host.absolute(src), host.absolute(dest)];
    native.unlink(to);
    native.copy(from, to, false);
    if (preserve) keepTimes(from, to);
  },
  cpSyncCopyDir: copyDirectory,
};
})
