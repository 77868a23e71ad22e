/* The part of libffi's interface that CPython's _ctypes uses, for calls of functions within this
 * program (foreign.c). WebAssembly makes no functions at run time, so closures are taken from a pool
 * of functions. */
#ifndef WASIBOX_FFI_H
#define WASIBOX_FFI_H

#include <stddef.h>
#include <stdint.h>

typedef struct _ffi_type {
    size_t size;
    unsigned short alignment, type;
    struct _ffi_type **elements;
} ffi_type;

enum {
    FFI_TYPE_VOID, FFI_TYPE_INT, FFI_TYPE_FLOAT, FFI_TYPE_DOUBLE, FFI_TYPE_LONGDOUBLE,
    FFI_TYPE_UINT8, FFI_TYPE_SINT8, FFI_TYPE_UINT16, FFI_TYPE_SINT16, FFI_TYPE_UINT32,
    FFI_TYPE_SINT32, FFI_TYPE_UINT64, FFI_TYPE_SINT64, FFI_TYPE_STRUCT, FFI_TYPE_POINTER,
};

extern ffi_type ffi_type_void, ffi_type_uint8, ffi_type_sint8, ffi_type_uint16, ffi_type_sint16,
    ffi_type_uint32, ffi_type_sint32, ffi_type_uint64, ffi_type_sint64, ffi_type_float,
    ffi_type_double, ffi_type_longdouble, ffi_type_pointer;

#define ffi_type_uchar ffi_type_uint8
#define ffi_type_schar ffi_type_sint8
#define ffi_type_ushort ffi_type_uint16
#define ffi_type_sshort ffi_type_sint16
#define ffi_type_uint ffi_type_uint32
#define ffi_type_sint ffi_type_sint32
#define ffi_type_ulong ffi_type_uint32
#define ffi_type_slong ffi_type_sint32

typedef enum { FFI_OK, FFI_BAD_TYPEDEF, FFI_BAD_ABI } ffi_status;
typedef enum { FFI_DEFAULT_ABI = 1 } ffi_abi;
typedef uint32_t ffi_arg;
typedef int32_t ffi_sarg;

typedef struct {
    unsigned nargs;
    ffi_type **arg_types;
    ffi_type *rtype;
} ffi_cif;

/* Its function of the pool, while it has one. */
typedef struct {
    int has_slot, kind, slot;
} ffi_closure;

ffi_status ffi_prep_cif(ffi_cif *cif, ffi_abi abi, unsigned count, ffi_type *result,
                        ffi_type **types);
void ffi_call(ffi_cif *cif, void *function, void *result, void **values);
void *ffi_closure_alloc(size_t size, void **code);
void ffi_closure_free(void *closure);
/* Which function it is depends on the signature, which is not known before this call; so `code` must
 * be a variable. */
#define HAVE_FFI_PREP_CLOSURE_LOC 1
#define ffi_prep_closure_loc(closure, cif, body, data, code) \
    wasibox_prepare_closure(closure, cif, body, data, &(code))
ffi_status wasibox_prepare_closure(ffi_closure *closure, ffi_cif *cif,
                                   void (*body)(ffi_cif *, void *, void **, void *), void *data,
                                   void **code);
/* The older form, which is compiled and not called. */
#define ffi_prep_closure(closure, cif, body, data) FFI_BAD_ABI

#endif
