/* A prepared interpreter: begun once, kept by the runtime, gone on from in
 * every later process. */
#ifndef WASIBOX_SNAPSHOT_H
#define WASIBOX_SNAPSHOT_H

/* What `sys.executable` is unless argv[0] is a path. */
#define WASIBOX_PYTHON "/usr/bin/python3"

/* Initialises the interpreter as the command line wants it; 0, or the status
 * with which the process is to end. Does not return on a fatal error. */
int wasibox_initialize(int argc, char **argv, int *exits);

/* Sets how deep C code may recurse to what this process's stack bears. The prepared memory has
 * CPython's own limit: it is the same on all hosts. */
void wasibox_bound_recursion(void);

/* Whether PATH leads to another file of that name than the image's. */
int wasibox_is_elsewhere(const char *argv0);

/* True in a process that began from the prepared memory. */
int wasibox_is_prepared(void);

/* Goes on with this command line; the process's status. If it asks for what must
 * be decided at initialisation, nothing is done, and wasibox_resume says so. */
int wasibox_go_on(int argc, char **argv);

/* For an interpreter that stays (cell.c): goes on from the prepared memory; false, and nothing is
 * done, if environment or signals ask for what must be decided at initialisation. */
int wasibox_begin_cells(void);

/* A function of the Python half of cells, prepared or imported. */
struct _object *wasibox_cell_function(const char *name);

/* Threads besides the first one (alone.c). `end` ends them, as if the process had been forked;
 * `stop` has them stop before their next Python code, at an interpreter's end. */
int wasibox_has_threads(void);
void wasibox_end_threads(void);
void wasibox_stop_threads(void);

#endif
