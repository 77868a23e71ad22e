/* Entry of python.wasm: what Py_BytesMain does, plus what WASI leaves out.
 *
 *  0. descriptors that a program of the image passed on get their numbers (posix/process.c);
 *  1. the inherited working directory becomes libc's (wasix.c), SQLite gets locks (posix/sqlite.c);
 *  2. `sys.executable` is /usr/bin/python3 unless argv[0] is a path that is
 *     there, or a name that PATH finds elsewhere: a runtime may pass any bare
 *     name, and the module's own file is not in the guest's file system;
 *  3. the packages' extension modules are registered (modules.h);
 *  4. no .pyc files are written next to imported scripts: /usr is read-only,
 *     the library is compiled already, and a user's mounted source folder is
 *     not ours to litter. `py_compile` and `compileall` still write.
 *  5. a process that began from a prepared interpreter goes on (snapshot.c);
 *  6. recursion of C code is bounded by the stack that the engine has.
 *
 * Paths are found by CPython's own getpath (landmarks under /usr/lib), so
 * PYTHONPATH, -E, -I, -S, -s, virtual environments and the user site behave
 * as documented, and PYTHONHOME is not needed.
 */
#include <Python.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules.h"
#include "snapshot.h"
#include "wasix.h"

static int names_a_file(const char *argv0)
{
    struct stat st;
    return strchr(argv0, '/') != NULL && stat(argv0, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether PATH leads to another file of that name than the image's, as in an activated
 * virtual environment. */
int wasibox_is_elsewhere(const char *argv0)
{
    const char *path = getenv("PATH");
    if (path == NULL || strchr(argv0, '/') != NULL)
        return 0;
    for (;; path++) {
        size_t size = strcspn(path, ":");
        char name[1024];
        struct stat st;
        if ((size == 8 && memcmp(path, "/usr/bin", 8) == 0)
            || (size == 4 && memcmp(path, "/bin", 4) == 0))
            return 0;
        int length = snprintf(name, sizeof name, "%.*s/%s", (int)size, path, argv0);
        if (size > 0 && length > 0 && (size_t)length < sizeof name && stat(name, &st) == 0
            && S_ISREG(st.st_mode))
            return 1;
        path += size;
        if (*path == '\0')
            return 0;
    }
}

int wasibox_initialize(int argc, char **argv, int *exits)
{
    wasibox_adopt();
    wasibox_enter_cwd();
    wasibox_sqlite_begin();
    if (wasibox_modules[0].name != NULL && PyImport_ExtendInittab(wasibox_modules) < 0)
        Py_FatalError("no memory for the table of modules");

    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.write_bytecode = 0;

    /* Pre-initialises too (-X utf8, -E ... are read from argv here). */
    PyStatus status = PyConfig_SetBytesArgv(&config, argc, argv);
    if (!PyStatus_Exception(status) && (argc < 1 || !(names_a_file(argv[0]) || wasibox_is_elsewhere(argv[0]))))
        status = PyConfig_SetBytesString(&config, &config.executable, WASIBOX_PYTHON);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    *exits = PyStatus_IsExit(status);
    if (*exits)
        return status.exitcode;
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    return 0;
}

/* Bytes of the call stack that the kernel tells (`box_abi::STACK`); 0 if it tells nothing. */
static long stack_bytes(void)
{
    char text[24];
    int fd = open("/.box/stack", O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return strtol(text, NULL, 10);
}

/* Bytes of what the kernel tells that one level of C recursion takes, what is left for the code at
 * the bottom, and levels without which nothing works. Measured in Chromium (966 KB, of which 604 are told) with code that is not
 * optimised: `sorted` with a key that calls it filled them with 1,406 levels, `reduce` 1,718, `map`
 * 2,186, `json.loads` 2,734, `json.dumps` 3,750. */
enum { LEVEL = 480, LEFT = 64 * 1024, LEAST = 200 };

/* CPython's limit is meant for a stack of several MiB; a page's worker has 0.5 to 1. There the
 * engine would end the process before the limit is reached. Called where no Python code runs:
 * what remains is the limit then. */
void wasibox_bound_recursion(void)
{
    long told = stack_bytes(), levels = (told - LEFT) / LEVEL;
    if (told <= 0 || levels > Py_C_RECURSION_LIMIT)
        levels = Py_C_RECURSION_LIMIT;
    if (levels < LEAST)
        levels = LEAST;
    PyThreadState_Get()->c_recursion_remaining = (int)levels;
}

int main(int argc, char **argv)
{
    if (wasibox_is_prepared())
        return wasibox_go_on(argc, argv);
    int exits;
    int status = wasibox_initialize(argc, argv, &exits);
    if (exits)
        return status;
    wasibox_bound_recursion();
    return Py_RunMain();
}
