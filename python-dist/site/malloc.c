/* malloc for python.wasm: Doug Lea's 2.8.6, configured for one linear memory.
 *
 * The compiler wheel's own libc brings an allocator that rounds every large
 * request up to a power of two and adds the header to the size without looking
 * for overflow. Both are wrong for us: a 300 MB string would take 512 MB, and
 * sizes come from hostile code. Its symbols are weak, so these win.
 *
 * Deliberately absent: mmap (there is none), trimming (memory never shrinks),
 * locks (there are no threads), statistics.
 */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#define HAVE_MMAP 0
#define HAVE_MREMAP 0
#define MORECORE_CONTIGUOUS 1
#define MORECORE_CANNOT_TRIM 1
#define USE_LOCKS 0
#define USE_SPIN_LOCKS 0
/* A damaged heap ends the process: this is the guest, and only the guest. */
#define ABORT __builtin_trap()
#define FOOTERS 0
#define MALLOC_ALIGNMENT 16
#define malloc_getpagesize 65536
#define DEFAULT_GRANULARITY 65536
#define NO_MALLINFO 1
#define NO_MALLOC_STATS 1
#define MALLOC_FAILURE_ACTION errno = ENOMEM;
#define LACKS_SYS_MMAN_H 1
#define LACKS_SYS_PARAM_H 1
#define LACKS_SCHED_H 1
#define LACKS_TIME_H 1

#include "dlmalloc.c"
