/* There are no threads. */
#define LOCK(x) ((void)0)
#define UNLOCK(x) ((void)0)
