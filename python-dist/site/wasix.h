/* Everything python.wasm asks of WASIX. Plain preview 1 has none of it: the
 * preview 1 flavour of the module answers ENOSYS to each of these. */
#ifndef WASIBOX_WASIX_H
#define WASIBOX_WASIX_H

/* Makes the process's inherited working directory libc's current directory.
 * Asks the runtime, then $PWD; keeps "/" when neither names a directory. */
void wasibox_enter_cwd(void);

/* The same between two cells, unless the runtime's answer is that of the last call: then the
 * process's own directory stays. */
void wasibox_enter_new_cwd(void);

/* Puts descriptors that the parent passed on in their places, and takes its file creation
 * mask over (posix/process.c). */
void wasibox_adopt(void);

/* Gives SQLite locks of files (posix/sqlite.c). */
void wasibox_sqlite_begin(void);

/* For a process that goes on from another one's memory: forgets what was learned of that one,
 * and tells the kernel of the signal handler. False if the parent has ignored signals. */
void wasibox_files_anew(void);
int wasibox_signals_anew(void);

/* The same for the time zone (posix/zone). */
void wasibox_zone_anew(void);

#endif
