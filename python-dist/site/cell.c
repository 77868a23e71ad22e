/* Cells: an interpreter that stays and runs one piece of code after another.
 *
 * The runtime calls `wasibox_cell` for each, in a process whose memory begins as it was prepared
 * (snapshot.c) or as the module's own, and whose descriptors, directory and memory stay between two
 * calls. The code is the process's second argument, the environment is asked for each time. It
 * returns with an empty stack, so that the interpreter is nothing but its memory then, which the
 * runtime may keep elsewhere and bring back. The Python half is lib/_wasibox_cell.py.
 *
 * The result is the address of `answer`, or 0 if a process that begins must not begin from the
 * prepared memory: the runtime calls again with the module's own.
 */
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>

#include "snapshot.h"
#include "wasix.h"

void __wasm_call_ctors(void);

/* What comes before the code. */
enum { BEGIN = 1, FORK = 2 };

static struct {
    uint32_t status, value, value_size, json, json_size;
} answer;

/* What `answer` points into. */
static PyObject *kept;
static PyObject *run_function;

/* Strings as the runtime gives them: one after the other, each with its NUL. */
struct strings {
    size_t count, size;
    char **list, *bytes;
};

static struct strings given;

typedef __wasi_errno_t sizes_function(__wasi_size_t *, __wasi_size_t *);
typedef __wasi_errno_t get_function(uint8_t **, uint8_t *);

static bool get_strings(struct strings *s, sizes_function *sizes, get_function *get)
{
    memset(s, 0, sizeof *s);
    if (sizes(&s->count, &s->size) != 0)
        return false;
    s->list = malloc((s->count + 1) * sizeof *s->list);
    s->bytes = malloc(s->size + 1);
    if (s->list != NULL && s->bytes != NULL
        && get((uint8_t **)s->list, (uint8_t *)s->bytes) == 0)
        return true;
    free(s->list);
    free(s->bytes);
    return false;
}

static void drop_strings(struct strings *s)
{
    free(s->list);
    free(s->bytes);
}

/* The code of this cell. */
static PyObject *source(void)
{
    struct strings args;
    if (!get_strings(&args, __wasi_args_sizes_get, __wasi_args_get))
        return PyErr_NoMemory();
    PyObject *text = PyBytes_FromString(args.count > 1 ? args.list[1] : "");
    drop_strings(&args);
    return text;
}

/* The environment as a list of pairs of bytes, or None if it is the last cell's. */
static PyObject *environment(void)
{
    struct strings now;
    if (!get_strings(&now, __wasi_environ_sizes_get, __wasi_environ_get))
        return PyErr_NoMemory();
    if (given.bytes != NULL && now.size == given.size
        && memcmp(now.bytes, given.bytes, now.size) == 0) {
        drop_strings(&now);
        return Py_NewRef(Py_None);
    }
    drop_strings(&given);
    given = now;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < now.count; i++) {
        const char *value = strchr(now.list[i], '=');
        if (value == NULL)
            continue;
        PyObject *pair = Py_BuildValue("(y#y)", now.list[i], (Py_ssize_t)(value - now.list[i]),
                                       value + 1);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* Of the module's own memory: what main does. */
static void begin_anew(void)
{
    static char *argv[] = {"python3", NULL};
    int exits = 0;
    __wasm_call_ctors();
    if (wasibox_initialize(1, argv, &exits) != 0 || exits)
        exit(1);
}

static bool begin(void)
{
    if (!wasibox_is_prepared())
        begin_anew();
    else if (!wasibox_begin_cells())
        return false;
    run_function = wasibox_cell_function("run");
    if (run_function == NULL) {
        PyErr_Print();
        exit(1);
    }
    return true;
}

static void answer_with(PyObject *bytes, uint32_t *at, uint32_t *size)
{
    *at = *size = 0;
    if (bytes != NULL && PyBytes_Check(bytes)) {
        *at = (uint32_t)(uintptr_t)PyBytes_AS_STRING(bytes);
        *size = (uint32_t)PyBytes_GET_SIZE(bytes);
    }
}

/* None may be left (alone.c). */
static void end_threads(void)
{
    if (!wasibox_has_threads())
        return;
    PyObject *error = PyErr_GetRaisedException();
    wasibox_end_threads();
    PyObject *function = wasibox_cell_function("forget_threads");
    PyObject *done = function == NULL ? NULL : PyObject_CallNoArgs(function);
    if (done == NULL)
        PyErr_Print();
    Py_XDECREF(function);
    Py_XDECREF(done);
    PyErr_SetRaisedException(error);
}

__attribute__((export_name("wasibox_cell"))) uint32_t wasibox_cell(uint32_t kind)
{
    if ((kind & BEGIN) && !begin())
        return 0;
    Py_CLEAR(kept);
    /* The interpreter may have come from a host with another stack. */
    wasibox_bound_recursion();
    wasibox_enter_new_cwd();
    PyObject *code = source(), *names = code == NULL ? NULL : environment();
    if (names != NULL)
        kept = PyObject_CallFunction(run_function, "OOO", code, names,
                                     kind & FORK ? Py_True : Py_False);
    Py_XDECREF(code);
    Py_XDECREF(names);
    end_threads();
    int status = 1;
    PyObject *value = NULL, *json = NULL;
    if (kept == NULL || !PyArg_ParseTuple(kept, "iOO", &status, &value, &json))
        PyErr_Print();
    answer.status = (uint32_t)status & 255;
    answer_with(value, &answer.value, &answer.value_size);
    answer_with(json, &answer.json, &answer.json_size);
    fflush(NULL);
    return (uint32_t)(uintptr_t)&answer;
}
