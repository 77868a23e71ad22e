/* Calls from ctypes into this program: dlopen(3) and dlsym(3) over a table of functions, and the
 * part of libffi that calls them.
 *
 * There are no shared libraries. CDLL(None), "libc.so.6" and "libm.so.6" are the functions of libc
 * in the table, pythonapi those of CPython. A call of WebAssembly traps if the function has another
 * signature than the caller thinks; so the signature of a function in the table is the table's, and
 * arguments are converted to it. Pointers to other functions are called as they are declared. A
 * Python function becomes one of C by taking a function of its signature from a pool.
 *
 * A signature is a letter for the result and one for each parameter: v nothing, i 32 bits, l 64
 * bits, d double; "*" stands for variable arguments.
 */
#include "Python.h"
#include "ffi.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

typedef void function(void);

struct symbol {
    const char *name;
    function *address;
    const char *signature;
};

#define SYMBOL(name, signature) {#name, (function *)(name), signature}

static const struct symbol LIBC[] = {
    SYMBOL(abs, "ii"), SYMBOL(labs, "ii"), SYMBOL(atof, "di"), SYMBOL(atoi, "ii"),
    SYMBOL(atol, "ii"), SYMBOL(atoll, "li"), SYMBOL(strtod, "dii"), SYMBOL(strtol, "iiii"),
    SYMBOL(strtoul, "iiii"), SYMBOL(strtoll, "liii"), SYMBOL(rand, "i"), SYMBOL(srand, "vi"),
    SYMBOL(malloc, "ii"), SYMBOL(calloc, "iii"), SYMBOL(realloc, "iii"), SYMBOL(free, "vi"),
    SYMBOL(memcpy, "iiii"), SYMBOL(memmove, "iiii"), SYMBOL(memset, "iiii"),
    SYMBOL(memcmp, "iiii"), SYMBOL(memchr, "iiii"), SYMBOL(strlen, "ii"),
    SYMBOL(strnlen, "iii"), SYMBOL(strcmp, "iii"), SYMBOL(strncmp, "iiii"),
    SYMBOL(strcasecmp, "iii"), SYMBOL(strncasecmp, "iiii"), SYMBOL(strcpy, "iii"),
    SYMBOL(strncpy, "iiii"), SYMBOL(strcat, "iii"), SYMBOL(strncat, "iiii"),
    SYMBOL(strchr, "iii"), SYMBOL(strrchr, "iii"), SYMBOL(strstr, "iii"),
    SYMBOL(strspn, "iii"), SYMBOL(strcspn, "iii"), SYMBOL(strpbrk, "iii"),
    SYMBOL(strtok, "iii"), SYMBOL(strerror, "ii"), SYMBOL(wcslen, "ii"),
    SYMBOL(isalnum, "ii"), SYMBOL(isalpha, "ii"), SYMBOL(isdigit, "ii"), SYMBOL(islower, "ii"),
    SYMBOL(isprint, "ii"), SYMBOL(ispunct, "ii"), SYMBOL(isspace, "ii"), SYMBOL(isupper, "ii"),
    SYMBOL(isxdigit, "ii"), SYMBOL(tolower, "ii"), SYMBOL(toupper, "ii"),
    SYMBOL(getenv, "ii"), SYMBOL(setenv, "iiii"), SYMBOL(unsetenv, "ii"),
    SYMBOL(getpid, "i"), SYMBOL(getppid, "i"), SYMBOL(getuid, "i"), SYMBOL(geteuid, "i"),
    SYMBOL(getgid, "i"), SYMBOL(getegid, "i"), SYMBOL(getcwd, "iii"), SYMBOL(chdir, "ii"),
    SYMBOL(time, "li"), SYMBOL(difftime, "dll"), SYMBOL(clock, "l"), SYMBOL(sleep, "ii"),
    SYMBOL(usleep, "ii"), SYMBOL(kill, "iii"), SYMBOL(isatty, "ii"), SYMBOL(sync, "v"),
    SYMBOL(puts, "ii"), SYMBOL(putchar, "ii"), SYMBOL(fflush, "ii"), SYMBOL(printf, "ii*"),
    SYMBOL(sprintf, "iii*"), SYMBOL(snprintf, "iiii*"), SYMBOL(sscanf, "iii*"),
    SYMBOL(qsort, "viiii"), SYMBOL(bsearch, "iiiiii"),
    SYMBOL(read, "iiii"), SYMBOL(write, "iiii"), SYMBOL(alarm, "ii"),
    SYMBOL(acos, "dd"), SYMBOL(asin, "dd"), SYMBOL(atan, "dd"), SYMBOL(atan2, "ddd"),
    SYMBOL(cbrt, "dd"), SYMBOL(ceil, "dd"), SYMBOL(cos, "dd"), SYMBOL(cosh, "dd"),
    SYMBOL(erf, "dd"), SYMBOL(exp, "dd"), SYMBOL(exp2, "dd"), SYMBOL(expm1, "dd"),
    SYMBOL(fabs, "dd"), SYMBOL(floor, "dd"), SYMBOL(fma, "dddd"), SYMBOL(fmod, "ddd"),
    SYMBOL(hypot, "ddd"), SYMBOL(ldexp, "ddi"), SYMBOL(log, "dd"), SYMBOL(log10, "dd"),
    SYMBOL(log1p, "dd"), SYMBOL(log2, "dd"), SYMBOL(pow, "ddd"), SYMBOL(round, "dd"),
    SYMBOL(sin, "dd"), SYMBOL(sinh, "dd"), SYMBOL(sqrt, "dd"), SYMBOL(tan, "dd"),
    SYMBOL(tanh, "dd"), SYMBOL(tgamma, "dd"), SYMBOL(trunc, "dd"),
};

static const struct symbol PYTHON[] = {
    SYMBOL(PyBytes_FromString, "ii"), SYMBOL(PyBytes_FromStringAndSize, "iii"),
    SYMBOL(PyBytes_AsString, "ii"), SYMBOL(PyOS_snprintf, "iiii*"),
    SYMBOL(PyByteArray_FromStringAndSize, "iii"), SYMBOL(PyByteArray_AsString, "ii"),
    SYMBOL(PyCapsule_GetName, "ii"), SYMBOL(PyCapsule_GetPointer, "iii"),
    SYMBOL(PyCapsule_IsValid, "iii"), SYMBOL(PyCapsule_New, "iiii"),
    SYMBOL(PyCell_Get, "ii"), SYMBOL(PyCell_Set, "iii"),
    SYMBOL(PyDict_GetItem, "iii"), SYMBOL(PyDict_SetItem, "iiii"), SYMBOL(PyDict_Size, "ii"),
    SYMBOL(PyErr_CheckSignals, "i"), SYMBOL(PyErr_Clear, "v"), SYMBOL(PyErr_Occurred, "i"),
    SYMBOL(PyErr_SetInterrupt, "v"), SYMBOL(PyErr_SetString, "vii"),
    SYMBOL(PyEval_GetFrame, "i"), SYMBOL(PyFloat_AsDouble, "di"),
    SYMBOL(PyFloat_FromDouble, "id"),
    SYMBOL(PyGC_Collect, "i"), SYMBOL(PyGILState_Check, "i"),
    SYMBOL(PyGILState_Ensure, "i"), SYMBOL(PyGILState_Release, "vi"),
    SYMBOL(PyImport_ImportModule, "ii"), SYMBOL(PyList_Append, "iii"), SYMBOL(PyList_New, "ii"),
    SYMBOL(PyList_Size, "ii"), SYMBOL(PyLong_AsLong, "ii"), SYMBOL(PyLong_AsLongLong, "li"),
    SYMBOL(PyLong_FromLong, "ii"), SYMBOL(PyLong_FromLongLong, "il"),
    SYMBOL(PyMem_Free, "vi"), SYMBOL(PyMem_Malloc, "ii"), SYMBOL(PyMem_RawFree, "vi"),
    SYMBOL(PyMem_RawMalloc, "ii"), SYMBOL(PyMemoryView_FromMemory, "iiii"),
    SYMBOL(PyMemoryView_FromObject, "ii"), SYMBOL(PyBuffer_Release, "vi"),
    SYMBOL(PyObject_GetBuffer, "iiii"), SYMBOL(PyObject_CallObject, "iii"),
    SYMBOL(PyObject_GetAttrString, "iii"), SYMBOL(PyObject_Hash, "ii"),
    SYMBOL(PyObject_IsTrue, "ii"), SYMBOL(PyObject_Length, "ii"), SYMBOL(PyObject_Repr, "ii"),
    SYMBOL(PyObject_SetAttrString, "iiii"), SYMBOL(PyObject_Str, "ii"),
    SYMBOL(PyObject_Type, "ii"), SYMBOL(PyRun_SimpleString, "ii"),
    SYMBOL(PySequence_Length, "ii"), SYMBOL(PyThreadState_Get, "i"),
    SYMBOL(PyThreadState_SetAsyncExc, "iii"), SYMBOL(PyTuple_GetItem, "iii"),
    SYMBOL(PyTuple_New, "ii"), SYMBOL(PyTuple_SetItem, "iiii"), SYMBOL(PyTuple_Size, "ii"),
    SYMBOL(PyType_Modified, "vi"), SYMBOL(PyType_Ready, "ii"),
    SYMBOL(PyUnicode_AsUTF8, "ii"), SYMBOL(PyUnicode_FromString, "ii"),
    SYMBOL(PyUnicode_FromStringAndSize, "iii"), SYMBOL(PyUnicode_GetLength, "ii"),
    SYMBOL(Py_DecRef, "vi"), SYMBOL(Py_GetBuildInfo, "i"), SYMBOL(Py_GetCompiler, "i"),
    SYMBOL(Py_GetPlatform, "i"), SYMBOL(Py_GetVersion, "i"), SYMBOL(Py_IncRef, "vi"),
    SYMBOL(Py_IsInitialized, "i"),
};

enum { LIBC_COUNT = sizeof LIBC / sizeof *LIBC, PYTHON_COUNT = sizeof PYTHON / sizeof *PYTHON };

/* ---- dlfcn.h ---- */

static const char *message;

void *dlopen(const char *name, int mode)
{
    static const char *const NAMES[] = {"libc.so.6", "libm.so.6", "libc.so", "libm.so",
                                        "libpython3.so", "libpython3.13.so.1.0"};
    static char text[256];
    (void)mode;
    if (name == NULL)
        return (void *)LIBC;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return (void *)LIBC;
    (void)snprintf(text, sizeof text,
                   "%s: cannot load shared libraries: there are none inside the sandbox", name);
    message = text;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

char *dlerror(void)
{
    char *text = (char *)message;
    message = NULL;
    return text;
}

static const struct symbol *find(int (*is_it)(const struct symbol *, const void *),
                                 const void *what)
{
    for (size_t i = 0; i < LIBC_COUNT; i++)
        if (is_it(&LIBC[i], what))
            return &LIBC[i];
    for (size_t i = 0; i < PYTHON_COUNT; i++)
        if (is_it(&PYTHON[i], what))
            return &PYTHON[i];
    return NULL;
}

static int has_name(const struct symbol *symbol, const void *name)
{
    return strcmp(symbol->name, name) == 0;
}

static int has_address(const struct symbol *symbol, const void *address)
{
    return (const void *)(uintptr_t)symbol->address == address;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    static char text[256];
    (void)handle;
    const struct symbol *symbol = find(has_name, name);
    if (symbol != NULL)
        return (void *)(uintptr_t)symbol->address;
    (void)snprintf(text, sizeof text, "undefined symbol: %s", name);
    message = text;
    return NULL;
}

/* ---- libffi ---- */

#define TYPE(name, type, number) \
    ffi_type ffi_type_##name = {sizeof(type), _Alignof(type), number, NULL}

ffi_type ffi_type_void = {1, 1, FFI_TYPE_VOID, NULL};
TYPE(uint8, uint8_t, FFI_TYPE_UINT8);
TYPE(sint8, int8_t, FFI_TYPE_SINT8);
TYPE(uint16, uint16_t, FFI_TYPE_UINT16);
TYPE(sint16, int16_t, FFI_TYPE_SINT16);
TYPE(uint32, uint32_t, FFI_TYPE_UINT32);
TYPE(sint32, int32_t, FFI_TYPE_SINT32);
TYPE(uint64, uint64_t, FFI_TYPE_UINT64);
TYPE(sint64, int64_t, FFI_TYPE_SINT64);
TYPE(float, float, FFI_TYPE_FLOAT);
TYPE(double, double, FFI_TYPE_DOUBLE);
TYPE(longdouble, long double, FFI_TYPE_LONGDOUBLE);
TYPE(pointer, void *, FFI_TYPE_POINTER);

enum { MOST = 8 };

static int is_passed(const ffi_type *type)
{
    return type->type != FFI_TYPE_STRUCT && type->type != FFI_TYPE_LONGDOUBLE;
}

/* Structures by value and long double are refused. */
ffi_status ffi_prep_cif(ffi_cif *cif, ffi_abi abi, unsigned count, ffi_type *result,
                        ffi_type **types)
{
    if (abi != FFI_DEFAULT_ABI)
        return FFI_BAD_ABI;
    if (!is_passed(result))
        return FFI_BAD_TYPEDEF;
    for (unsigned i = 0; i < count; i++)
        if (!is_passed(types[i]))
            return FFI_BAD_TYPEDEF;
    *cif = (ffi_cif){.nargs = count, .arg_types = types, .rtype = result};
    return FFI_OK;
}

/* One argument or result. */
struct value {
    int64_t whole;
    double real;
    int is_real;
};

static struct value load(const ffi_type *type, const void *at)
{
    struct value v = {0};
    switch (type->type) {
    case FFI_TYPE_UINT8: v.whole = *(const uint8_t *)at; break;
    case FFI_TYPE_SINT8: v.whole = *(const int8_t *)at; break;
    case FFI_TYPE_UINT16: v.whole = *(const uint16_t *)at; break;
    case FFI_TYPE_SINT16: v.whole = *(const int16_t *)at; break;
    case FFI_TYPE_UINT32: case FFI_TYPE_POINTER: v.whole = *(const uint32_t *)at; break;
    case FFI_TYPE_SINT32: case FFI_TYPE_INT: v.whole = *(const int32_t *)at; break;
    case FFI_TYPE_UINT64: case FFI_TYPE_SINT64: v.whole = *(const int64_t *)at; break;
    case FFI_TYPE_FLOAT: v.real = *(const float *)at; v.is_real = 1; break;
    case FFI_TYPE_DOUBLE: v.real = *(const double *)at; v.is_real = 1; break;
    default: break;
    }
    return v;
}

static double real_of(struct value v)
{
    return v.is_real ? v.real : (double)v.whole;
}

/* A number that does not fit is 0, as no number does for NaN. */
static int64_t whole_of(struct value v)
{
    if (!v.is_real)
        return v.whole;
    return v.real > -9.2e18 && v.real < 9.2e18 ? (int64_t)v.real : 0;
}

/* An integral result has at least the size of ffi_arg. */
static void store(const ffi_type *type, void *at, struct value v)
{
    switch (type->type) {
    case FFI_TYPE_VOID: break;
    case FFI_TYPE_UINT64: case FFI_TYPE_SINT64: *(int64_t *)at = whole_of(v); break;
    case FFI_TYPE_FLOAT: *(float *)at = (float)real_of(v); break;
    case FFI_TYPE_DOUBLE: *(double *)at = real_of(v); break;
    case FFI_TYPE_UINT8: *(ffi_arg *)at = (uint8_t)whole_of(v); break;
    case FFI_TYPE_SINT8: *(ffi_sarg *)at = (int8_t)whole_of(v); break;
    case FFI_TYPE_UINT16: *(ffi_arg *)at = (uint16_t)whole_of(v); break;
    case FFI_TYPE_SINT16: *(ffi_sarg *)at = (int16_t)whole_of(v); break;
    default: *(ffi_sarg *)at = (int32_t)whole_of(v); break;
    }
}

#define I(n) (int32_t)whole[n]
#define INTEGRAL(result) \
    switch (count) { \
    case 0: CALL(result, (void), ()); \
    case 1: CALL(result, (int32_t), (I(0))); \
    case 2: CALL(result, (int32_t, int32_t), (I(0), I(1))); \
    case 3: CALL(result, (int32_t, int32_t, int32_t), (I(0), I(1), I(2))); \
    case 4: CALL(result, (int32_t, int32_t, int32_t, int32_t), (I(0), I(1), I(2), I(3))); \
    case 5: CALL(result, (int32_t, int32_t, int32_t, int32_t, int32_t), \
                 (I(0), I(1), I(2), I(3), I(4))); \
    case 6: CALL(result, (int32_t, int32_t, int32_t, int32_t, int32_t, int32_t), \
                 (I(0), I(1), I(2), I(3), I(4), I(5))); \
    case 7: CALL(result, (int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t), \
                 (I(0), I(1), I(2), I(3), I(4), I(5), I(6))); \
    case 8: CALL(result, \
                 (int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t), \
                 (I(0), I(1), I(2), I(3), I(4), I(5), I(6), I(7))); \
    default: return 0; \
    }
#define TYPED(result, types) ((result(*) types)f)

/* Calls a function whose signature is `letters`; returns 0 if there is no way for that one. */
static int call(function *f, const char *letters, const struct value *given, struct value *out)
{
    int64_t whole[MOST] = {0};
    double real[MOST] = {0};
    size_t count = strlen(letters) - 1;
    if (count > MOST)
        return 0;
    for (size_t i = 0; i < count; i++) {
        whole[i] = whole_of(given[i]);
        real[i] = real_of(given[i]);
    }
    int is_integral = strspn(letters + 1, "i") == count;
    *out = (struct value){0};
    if (is_integral && letters[0] == 'v') {
#define CALL(result, types, arguments) TYPED(result, types) arguments; return 1
        INTEGRAL(void)
#undef CALL
    }
#define CALL(result, types, arguments) out->whole = TYPED(result, types) arguments; return 1
    if (is_integral && letters[0] == 'i') {
        INTEGRAL(int32_t)
    }
    if (is_integral && letters[0] == 'l') {
        INTEGRAL(int64_t)
    }
    if (strcmp(letters, "il") == 0) {
        CALL(int32_t, (int64_t), (whole[0]));
    }
    if (strcmp(letters, "id") == 0) {
        CALL(int32_t, (double), (real[0]));
    }
#undef CALL
    out->is_real = 1;
#define CALL(result, types, arguments) out->real = TYPED(result, types) arguments; return 1
    if (is_integral && letters[0] == 'd') {
        INTEGRAL(double)
    }
    if (strcmp(letters, "dd") == 0) {
        CALL(double, (double), (real[0]));
    }
    if (strcmp(letters, "ddd") == 0) {
        CALL(double, (double, double), (real[0], real[1]));
    }
    if (strcmp(letters, "dddd") == 0) {
        CALL(double, (double, double, double), (real[0], real[1], real[2]));
    }
    if (strcmp(letters, "ddi") == 0) {
        CALL(double, (double, int32_t), (real[0], I(1)));
    }
    if (strcmp(letters, "dll") == 0) {
        CALL(double, (int64_t, int64_t), (whole[0], whole[1]));
    }
#undef CALL
    return 0;
}

static char letter_of(const ffi_type *type)
{
    switch (type->type) {
    case FFI_TYPE_VOID: return 'v';
    case FFI_TYPE_UINT64: case FFI_TYPE_SINT64: return 'l';
    case FFI_TYPE_FLOAT: return 'f'; /* no function has it */
    case FFI_TYPE_DOUBLE: return 'd';
    default: return 'i';
    }
}

/* Puts arguments from `first` on where a function with variable arguments reads them: in memory,
 * each aligned to its size, `float` as `double`. Returns 0 if there are too many. */
static int pack(const ffi_cif *cif, const struct value *given, unsigned first, char *room,
                size_t size)
{
    size_t at = 0;
    for (unsigned i = first; i < cif->nargs; i++) {
        int is_wide = given[i].is_real || letter_of(cif->arg_types[i]) == 'l';
        size_t width = is_wide ? 8 : 4;
        at = (at + width - 1) / width * width;
        if (at + width > size)
            return 0;
        if (given[i].is_real)
            memcpy(room + at, &given[i].real, 8);
        else
            memcpy(room + at, &given[i].whole, width);
        at += width;
    }
    return 1;
}

/* A call that is not possible fails with ENOSYS, and gives 0. */
void ffi_call(ffi_cif *cif, void *address, void *result, void **values)
{
    enum { MOST_ARGUMENTS = 64 };
    struct value given[MOST_ARGUMENTS] = {0}, out = {0};
    _Alignas(8) char rest[MOST_ARGUMENTS * 8];
    char letters[MOST_ARGUMENTS + 2];
    unsigned count = cif->nargs;
    int is_done = 0;
    if (count <= MOST_ARGUMENTS) {
        const struct symbol *symbol = find(has_address, address);
        for (unsigned i = 0; i < count; i++)
            given[i] = load(cif->arg_types[i], values[i]);
        if (symbol == NULL) {
            letters[0] = letter_of(cif->rtype);
            for (unsigned i = 0; i < count; i++)
                letters[i + 1] = letter_of(cif->arg_types[i]);
            letters[count + 1] = '\0';
        } else {
            strcpy(letters, symbol->signature);
        }
        char *variable = strchr(letters, '*');
        if (variable == NULL) {
            is_done = call((function *)(uintptr_t)address, letters, given, &out);
        } else {
            unsigned fixed = (unsigned)(variable - letters) - 1;
            if (pack(cif, given, fixed, rest, sizeof rest)) {
                given[fixed] = (struct value){.whole = (int64_t)(uintptr_t)rest};
                *variable = 'i';
                is_done = call((function *)(uintptr_t)address, letters, given, &out);
            }
        }
    }
    if (!is_done)
        errno = ENOSYS;
    store(cif->rtype, result, out);
}

/* ---- closures ----
 *
 * There are as many functions of each signature as there can be closures of it at one time: those
 * that call() can call, with up to six integral parameters.
 */

enum { SLOTS = 16 };

struct slot {
    ffi_cif *cif;
    void (*body)(ffi_cif *, void *, void **, void *);
    void *data;
};

#define W(x) {.whole = (x)}
#define R(x) {.real = (x), .is_real = 1}

#define P0 (void)
#define P1 (int32_t a)
#define P2 (int32_t a, int32_t b)
#define P3 (int32_t a, int32_t b, int32_t c)
#define P4 (int32_t a, int32_t b, int32_t c, int32_t d)
#define P5 (int32_t a, int32_t b, int32_t c, int32_t d, int32_t e)
#define P6 (int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
#define A0 W(0)
#define A1 W(a)
#define A2 A1, W(b)
#define A3 A2, W(c)
#define A4 A3, W(d)
#define A5 A4, W(e)
#define A6 A5, W(f)

/* For each kind of function: its name, signature, type of result, what it returns of the value `v`,
 * parameters and their values. */
#define INTEGRAL_KINDS(K, r, type, back) \
    K(r##0, #r, type, back, P0, A0) K(r##1, #r "i", type, back, P1, A1) \
    K(r##2, #r "ii", type, back, P2, A2) K(r##3, #r "iii", type, back, P3, A3) \
    K(r##4, #r "iiii", type, back, P4, A4) K(r##5, #r "iiiii", type, back, P5, A5) \
    K(r##6, #r "iiiiii", type, back, P6, A6)
#define KINDS(K) \
    INTEGRAL_KINDS(K, v, void, ) \
    INTEGRAL_KINDS(K, i, int32_t, (int32_t)v.whole) \
    INTEGRAL_KINDS(K, l, int64_t, v.whole) \
    INTEGRAL_KINDS(K, d, double, v.real) \
    K(il, "il", int32_t, (int32_t)v.whole, (int64_t a), W(a)) \
    K(id, "id", int32_t, (int32_t)v.whole, (double a), R(a)) \
    K(dd, "dd", double, v.real, (double a), R(a)) \
    K(ddd, "ddd", double, v.real, (double a, double b), R(a), R(b)) \
    K(dddd, "dddd", double, v.real, (double a, double b, double c), R(a), R(b), R(c)) \
    K(ddi, "ddi", double, v.real, (double a, int32_t b), R(a), W(b)) \
    K(dll, "dll", double, v.real, (int64_t a, int64_t b), W(a), W(b))

#define SIXTEEN(F, ...) \
    F(0, __VA_ARGS__) F(1, __VA_ARGS__) F(2, __VA_ARGS__) F(3, __VA_ARGS__) F(4, __VA_ARGS__) \
    F(5, __VA_ARGS__) F(6, __VA_ARGS__) F(7, __VA_ARGS__) F(8, __VA_ARGS__) F(9, __VA_ARGS__) \
    F(10, __VA_ARGS__) F(11, __VA_ARGS__) F(12, __VA_ARGS__) F(13, __VA_ARGS__) \
    F(14, __VA_ARGS__) F(15, __VA_ARGS__)

#define NUMBER(name, ...) KIND_##name,
enum { KINDS(NUMBER) KIND_COUNT };
#undef NUMBER

static struct slot slots[KIND_COUNT][SLOTS];

/* Runs a closure's body. One that has ended since gives 0. */
static struct value run_slot(int kind, int number, const struct value *given)
{
    const struct slot *slot = &slots[kind][number];
    _Alignas(8) char room[MOST][8];
    void *values[MOST];
    _Alignas(8) char result[16] = {0};
    if (slot->body == NULL)
        return (struct value){0};
    for (unsigned i = 0; i < slot->cif->nargs; i++) {
        if (given[i].is_real)
            memcpy(room[i], &given[i].real, 8);
        else
            memcpy(room[i], &given[i].whole, 8);
        values[i] = room[i];
    }
    slot->body(slot->cif, result, values, slot->data);
    return load(slot->cif->rtype, result);
}

#define FUNCTION(n, name, signature, type, back, parameters, ...) \
    static type name##_##n parameters \
    { \
        const struct value given[] = {__VA_ARGS__}; \
        struct value v = run_slot(KIND_##name, n, given); \
        (void)v; \
        return back; \
    }
#define FUNCTIONS(...) SIXTEEN(FUNCTION, __VA_ARGS__)
KINDS(FUNCTIONS)

#define ADDRESS(n, name) (function *)name##_##n,
#define KIND(name, signature, ...) {signature, {SIXTEEN(ADDRESS, name)}},
static const struct {
    const char *signature;
    function *functions[SLOTS];
} kinds[KIND_COUNT] = {KINDS(KIND)};

void *ffi_closure_alloc(size_t size, void **code)
{
    *code = NULL;
    return calloc(1, size);
}

void ffi_closure_free(void *closure)
{
    const ffi_closure *c = closure;
    if (c != NULL && c->has_slot)
        slots[c->kind][c->slot] = (struct slot){0};
    free(closure);
}

/* Refused if there is no function of the signature, or if all are taken. */
ffi_status wasibox_prepare_closure(ffi_closure *closure, ffi_cif *cif,
                                   void (*body)(ffi_cif *, void *, void **, void *), void *data,
                                   void **code)
{
    char letters[MOST + 2] = {letter_of(cif->rtype)};
    if (cif->nargs > MOST)
        return FFI_BAD_ABI;
    for (unsigned i = 0; i < cif->nargs; i++)
        letters[i + 1] = letter_of(cif->arg_types[i]);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (strcmp(kinds[kind].signature, letters) != 0)
            continue;
        for (int n = 0; n < SLOTS; n++) {
            if (slots[kind][n].body != NULL)
                continue;
            slots[kind][n] = (struct slot){cif, body, data};
            *closure = (ffi_closure){1, kind, n};
            *code = (void *)(uintptr_t)kinds[kind].functions[n];
            return FFI_OK;
        }
    }
    return FFI_BAD_ABI;
}
