/* Everything python.wasm asks of WASIX. Plain preview 1 has none of it: the
 * preview 1 flavour of the module answers ENOSYS to each of these. */
#ifndef WASIBOX_WASIX_H
#define WASIBOX_WASIX_H

/* Makes the process's inherited working directory libc's current directory.
 * Asks the runtime, then $PWD; keeps "/" when neither names a directory. */
void wasibox_enter_cwd(void);

/* Puts descriptors that the parent passed on in their places, and takes its file creation
 * mask over (posix/process.c). */
void wasibox_adopt(void);

#endif
