/* A prepared interpreter: begun once, kept by the runtime, gone on from in
 * every later process.
 *
 * The runtime calls `wasibox_prepare` in an empty process, keeps the linear
 * memory, and calls `wasibox_resume` instead of `_start` in later processes,
 * whose memory begins as that copy. What is the same for every start is done
 * in the former, everything that depends on arguments, environment, streams,
 * time or chance in the latter; the Python half of both is lib/_wasibox.py.
 *
 * Command lines that change how an interpreter is initialised (-I, -S, -O, -X,
 * a virtual environment, most PYTHON* variables ...) are declined: the runtime
 * then begins with `_start`. A runtime that knows nothing of this does so always.
 *
 * At the end of such a process the interpreter is not torn down: exit handlers
 * run, the script's objects are finalised and streams are flushed, but the
 * prepared modules' memory is left to the end of the process, which is near.
 */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <internal/pycore_fileutils.h>
#include <internal/pycore_initconfig.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pylifecycle.h>
#include <internal/pycore_pystate.h>

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/libc-environ.h>

#include "snapshot.h"
#include "wasix.h"

extern char **environ;
void __wasm_call_ctors(void);
void __wasm_call_dtors(void);
int __main_void(void);

/* Part of the kept memory. */
static bool prepared;
static PyObject *resume_function, *finish_function, *cell_module;
/* Set in a process that went on, or that wants to begin from the start. */
static bool resumed, declined;

int wasibox_is_prepared(void)
{
    return prepared;
}

/* --- preparing ----------------------------------------------------------- */

static void give_up(void)
{
    if (PyErr_Occurred())
        PyErr_Print();
    exit(1);
}

__attribute__((export_name("wasibox_prepare"))) void wasibox_prepare(void)
{
    static char *argv[] = {"python3", NULL};
    int exits = 0;
    __wasm_call_ctors();
    if (wasibox_initialize(1, argv, &exits) != 0 || exits)
        give_up();
    PyObject *module = PyImport_ImportModule("_wasibox");
    if (module == NULL)
        give_up();
    resume_function = PyObject_GetAttrString(module, "resume");
    finish_function = PyObject_GetAttrString(module, "finish");
    PyObject *done = PyObject_CallMethod(module, "prepare", NULL);
    cell_module = PyObject_GetAttrString(module, "cells");
    Py_DECREF(module);
    if (cell_module == NULL || resume_function == NULL || finish_function == NULL || done == NULL)
        give_up();
    Py_DECREF(done);
    fflush(NULL);
    __wasilibc_deinitialize_environ();
    prepared = true;
}

/* --- the command line ---------------------------------------------------- */

struct invocation {
    const char *command;  /* of -c */
    const char *module;   /* of -m */
    const char *filename; /* the script; all three are NULL for standard input */
    int first;            /* the first argument that becomes part of sys.argv */
    bool unbuffered;
};

/* Whether the command line asks for nothing that must be known at
 * initialisation, and if so what it asks for. */
static bool understand(int argc, char **argv, struct invocation *how)
{
    memset(how, 0, sizeof *how);
    /* A path may belong to a virtual environment, and so may a name. */
    if (argc < 1 || (strchr(argv[0], '/') != NULL && strcmp(argv[0], WASIBOX_PYTHON) != 0)
        || wasibox_is_elsewhere(argv[0]))
        return false;
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        for (const char *option = argv[at] + 1; *option != '\0'; option++) {
            switch (*option) {
            case 'u':
                how->unbuffered = true;
                break;
            case 'B': /* is how it was prepared */
                break;
            case 'c':
            case 'm': {
                const char *value = option[1] != '\0' ? option + 1 : NULL;
                if (value == NULL && ++at < argc)
                    value = argv[at];
                if (value == NULL)
                    return false;
                *(*option == 'c' ? &how->command : &how->module) = value;
                how->first = at + 1;
                return true;
            }
            default:
                return false;
            }
        }
    }
    how->first = at;
    if (at < argc && strcmp(argv[at], "-") != 0) {
        how->filename = argv[at];
        return true;
    }
    return !isatty(STDIN_FILENO);
}

/* Whether the environment changes nothing that must be known at initialisation. */
static bool plain_environment(bool *unbuffered)
{
    static const char *const harmless[] = {
        "PYTHONPATH=", "PYTHONDONTWRITEBYTECODE=", "PYTHONSTARTUP=", "PYTHONHASHSEED=random",
    };
    for (char **p = environ; p != NULL && *p != NULL; p++) {
        if (strncmp(*p, "PYTHON", 6) != 0)
            continue;
        const char *value = strchr(*p, '=');
        if (value == NULL || value[1] == '\0')
            continue;
        if (strncmp(*p, "PYTHONUNBUFFERED=", 17) == 0) {
            *unbuffered = true;
            continue;
        }
        bool known = false;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
            size_t length = strlen(harmless[i]);
            known |= harmless[i][length - 1] == '=' ? strncmp(*p, harmless[i], length) == 0
                                                    : strcmp(*p, harmless[i]) == 0;
        }
        if (!known)
            return false;
    }
    return true;
}

/* Whether the packages find what they found when they were prepared: NumPy and Matplotlib
 * look at variables and files when they are imported. */
static bool plain_packages(void)
{
    static const char *const looked_at[] = {
        "NPY_", "NUMPY_", "MATPLOTLIBRC=", "MPLCONFIGDIR=", "XDG_CONFIG_HOME=",
    };
    for (char **p = environ; p != NULL && *p != NULL; p++)
        for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++)
            if (strncmp(*p, looked_at[i], strlen(looked_at[i])) == 0)
                return false;
    const char *backend = getenv("MPLBACKEND"), *home = getenv("HOME");
    if (backend != NULL && backend[0] != '\0' && strcasecmp(backend, "agg") != 0)
        return false;
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/.config/matplotlib/matplotlibrc",
                          home == NULL ? "" : home);
    struct stat st;
    return length > 0 && (size_t)length < sizeof path && stat(path, &st) != 0
        && stat("matplotlibrc", &st) != 0;
}

/* --- going on ------------------------------------------------------------ */

static bool set_string(wchar_t **field, const char *text)
{
    wchar_t *decoded = text == NULL ? NULL : Py_DecodeLocale(text, NULL);
    if (text != NULL && decoded == NULL)
        return false;
    PyMem_RawFree(*field);
    *field = decoded;
    return true;
}

/* `COMMAND\n`, as -c stores it. */
static bool set_command(wchar_t **field, const char *command)
{
    size_t length = strlen(command);
    char *line = malloc(length + 2);
    if (line == NULL)
        return false;
    memcpy(line, command, length);
    memcpy(line + length, "\n", 2);
    bool done = set_string(field, line);
    free(line);
    return done;
}

static bool set_filename(PyConfig *config, const char *filename)
{
    if (!set_string(&config->run_filename, filename))
        return false;
    wchar_t *absolute;
    if (!_Py_isabs(config->run_filename)
        && _Py_abspath(config->run_filename, &absolute) == 0) {
        if (absolute == NULL)
            return false;
        PyMem_RawFree(config->run_filename);
        config->run_filename = absolute;
    }
    return true;
}

static bool set_list(PyWideStringList *list, const char *first, char **rest, int count)
{
    for (Py_ssize_t i = 0; i < list->length; i++)
        PyMem_RawFree(list->items[i]);
    list->length = 0;
    for (int i = first == NULL ? 0 : -1; i < count; i++) {
        wchar_t *text = Py_DecodeLocale(i < 0 ? first : rest[i], NULL);
        if (text == NULL || PyStatus_Exception(PyWideStringList_Append(list, text)))
            return false;
        PyMem_RawFree(text);
    }
    return true;
}

static bool publish_list(const char *name, const PyWideStringList *from)
{
    PyObject *list = PyList_New(from->length);
    if (list == NULL)
        return false;
    for (Py_ssize_t i = 0; i < from->length; i++) {
        PyObject *text = PyUnicode_FromWideChar(from->items[i], -1);
        if (text == NULL) {
            Py_DECREF(list);
            return false;
        }
        PyList_SET_ITEM(list, i, text);
    }
    int failed = PySys_SetObject(name, list);
    Py_DECREF(list);
    return failed == 0;
}

/* What Py_InitializeFromConfig would have made of the command line. */
static bool configure(const struct invocation *how, int argc, char **argv)
{
    PyConfig *config = (PyConfig *)_PyInterpreterState_GetConfig(PyInterpreterState_Get());
    const char *first = how->command != NULL ? "-c" : how->module != NULL ? "-m" : NULL;
    if (first == NULL && how->first >= argc)
        first = "";
    config->buffered_stdio = !how->unbuffered;
    return (how->command == NULL || set_command(&config->run_command, how->command))
        && set_string(&config->run_module, how->module)
        && (how->filename == NULL || set_filename(config, how->filename))
        && set_list(&config->argv, first, argv + how->first, argc - how->first)
        && set_list(&config->orig_argv, NULL, argv, argc)
        && publish_list("argv", &config->argv)
        && publish_list("orig_argv", &config->orig_argv);
}

/* The environment as a list of pairs of bytes. */
static PyObject *environment(void)
{
    PyObject *list = PyList_New(0);
    for (char **p = environ; list != NULL && p != NULL && *p != NULL; p++) {
        const char *value = strchr(*p, '=');
        if (value == NULL)
            continue;
        PyObject *pair = Py_BuildValue("(y#y)", *p, (Py_ssize_t)(value - *p), value + 1);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* Goes on from the prepared memory with a command line that was understood; false, with an
 * exception, if that fails. */
static bool go_on(const struct invocation *how, int argc, char **argv)
{
    wasibox_files_anew();
    wasibox_zone_anew();
    wasibox_adopt();
    wasibox_bound_recursion();
    resumed = true;
    if (!configure(how, argc, argv)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return false;
    }
    PyObject *names = environment();
    PyObject *done = names == NULL
        ? NULL
        : PyObject_CallFunction(resume_function, "OO", names, how->unbuffered ? Py_True : Py_False);
    Py_XDECREF(names);
    Py_XDECREF(done);
    return done != NULL;
}

int wasibox_go_on(int argc, char **argv)
{
    struct invocation how;
    __wasilibc_ensure_environ();
    wasibox_enter_cwd();
    if (!understand(argc, argv, &how) || !plain_environment(&how.unbuffered)
        || !plain_packages() || !wasibox_signals_anew()) {
        declined = true;
        return 0;
    }
    if (!go_on(&how, argc, argv))
        give_up();
    return Py_RunMain();
}

int wasibox_begin_cells(void)
{
    static char *argv[] = {"python3", NULL};
    struct invocation how = {.first = 1};
    __wasilibc_ensure_environ();
    wasibox_enter_cwd();
    if (wasibox_is_elsewhere(argv[0]) || !plain_environment(&how.unbuffered)
        || !plain_packages() || !wasibox_signals_anew())
        return 0;
    if (!go_on(&how, 1, argv))
        give_up();
    return 1;
}

PyObject *wasibox_cell_function(const char *name)
{
    if (cell_module == NULL)
        cell_module = PyImport_ImportModule("_wasibox_cell");
    return cell_module == NULL ? NULL : PyObject_GetAttrString(cell_module, name);
}

/* 0 when the process has ended by itself, 1 to begin with `_start`. */
__attribute__((export_name("wasibox_resume"))) int wasibox_resume(void)
{
    int status = __main_void();
    if (declined)
        return 1;
    __wasm_call_dtors();
    if (status != 0)
        _Exit(status);
    return 0;
}

/* --- the end ------------------------------------------------------------- */

static bool flush(const char *name, bool tell)
{
    PyObject *stream = PySys_GetObject(name);
    if (stream == NULL || stream == Py_None)
        return true;
    Py_INCREF(stream);
    PyObject *closed = PyObject_GetAttrString(stream, "closed");
    if (closed == NULL)
        PyErr_Clear();
    int is_closed = closed != NULL && PyObject_IsTrue(closed) == 1;
    Py_XDECREF(closed);
    PyObject *done = is_closed ? Py_NewRef(Py_None) : PyObject_CallMethod(stream, "flush", NULL);
    if (done == NULL && tell)
        PyErr_WriteUnraisable(stream);
    else if (done == NULL)
        PyErr_Clear();
    bool flushed = done != NULL;
    Py_XDECREF(done);
    Py_DECREF(stream);
    return flushed;
}

static bool flush_streams(void)
{
    bool out = flush("stdout", true);
    return flush("stderr", false) && out;
}

/* `_wasibox.finish(stage)`; errors are told. */
static void finish_stage(int stage)
{
    PyObject *done = PyObject_CallFunction(finish_function, "i", stage);
    if (done == NULL)
        PyErr_Print();
    Py_XDECREF(done);
}

/* The visible parts of Py_FinalizeEx, in its order; its status. */
static int finish(void)
{
    static bool begun;
    if (begun)
        return 0;
    begun = true;
    PyErr_Clear();
    finish_stage(0);
    /* Threads that go on are stopped when they want to run Python code again. */
    if (wasibox_has_threads())
        wasibox_stop_threads();
    bool flushed = flush_streams();
    finish_stage(1);
    flushed = flush_streams() && flushed;
    fflush(NULL);
    return flushed ? 0 : -1;
}

/* The linker sends calls of Py_FinalizeEx and Py_Exit from other files here. */
int __real_Py_FinalizeEx(void);
void __real_Py_Exit(int status) __attribute__((noreturn));

int __wrap_Py_FinalizeEx(void)
{
    return resumed ? finish() : __real_Py_FinalizeEx();
}

__attribute__((noreturn)) void __wrap_Py_Exit(int status)
{
    if (!resumed)
        __real_Py_Exit(status);
    if (finish() < 0)
        status = 120;
    exit(status);
}
