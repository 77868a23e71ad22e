/* Included before each C file of QuickJS when it is compiled for the guest.
 *
 * QuickJS turns its check of the stack off under __wasi__ (update_stack_limit in quickjs.c), since most hosts'
 * stacks are unknown to it: endless recursion would be a trap, where JavaScript has a RangeError. The frames that
 * it can see lie in linear memory; js/node/src/start.rs bounds these so that ours, which it cannot see, suffice.
 *
 * libc's headers need the name, so they come first. The other name that is set keeps malloc_usable_size, by which
 * the engine counts its memory (cutils.h); QuickJS asks for it nowhere else.
 */
#include <alloca.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#undef __wasi__
#define __GLIBC__ 2
