/* What the reference LAPACK leaves to the machine: constants of floating-point numbers, and what is said of a
 * wrong argument. And what SciPy calls that neither it nor the C++ library here has. */

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "f2c.h"

#define CONSTANT(letter, prefix)                                                                   \
    switch (letter | 0x20) {                                                                       \
    case 'e': return prefix##_EPSILON / 2; /* rounding, not spacing */                             \
    case 's': return prefix##_MIN;         /* its inverse does not overflow */                     \
    case 'b': return FLT_RADIX;                                                                    \
    case 'p': return prefix##_EPSILON / 2 * FLT_RADIX;                                             \
    case 'n': return prefix##_MANT_DIG;                                                            \
    case 'r': return 1; /* additions are rounded */                                                \
    case 'm': return prefix##_MIN_EXP;                                                             \
    case 'u': return prefix##_MIN;                                                                 \
    case 'l': return prefix##_MAX_EXP;                                                             \
    case 'o': return prefix##_MAX;                                                                 \
    default: return 0;                                                                             \
    }

real slamch_(char *what) { CONSTANT(*what, FLT) }

doublereal dlamch_(char *what) { CONSTANT(*what, DBL) }

/* The sum, stored: nothing is kept in wider registers. */
real slamc3_(real *a, real *b) { return *a + *b; }

doublereal dlamc3_(doublereal *a, doublereal *b) { return *a + *b; }

/* The reference stops the program; SciPy's callers look at INFO. */
void xerbla_(char *routine, integer *argument)
{
    fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine,
            (int)*argument);
}

/* The routine's name as so many characters, without an end. */
void xerbla_array_(char *name, integer *length, integer *argument)
{
    char routine[33] = {0};
    for (integer i = 0; i < *length && i < 32; i++)
        routine[i] = name[i];
    xerbla_(routine, argument);
}

/* A function of one character: f2c would return it by a pointer. */
char chla_transtype_(integer *kind)
{
    return *kind == 111 ? 'N' : *kind == 112 ? 'T' : *kind == 113 ? 'C' : 'X';
}

/* Room for what is concatenated into one of its own parts (s_cat). */
char *F77_aloc(ftnlen length, const char *whence)
{
    char *room = malloc(length);
    if (room)
        return room;
    fprintf(stderr, "no memory in %s\n", whence);
    abort();
}

int __cxa_atexit(void (*end)(void *), void *object, void *library);

/* A thread-local object of C++ is one for all threads here, so it ends with the program. */
int __cxa_thread_atexit(void (*end)(void *), void *object, void *library)
{
    return __cxa_atexit(end, object, library);
}

/* Nothing forks here. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
    return 0;
}
