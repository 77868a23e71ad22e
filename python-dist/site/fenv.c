/* Floating-point status flags, in software.
 *
 * WebAssembly has none, and libc's functions do nothing. Code that reports a
 * result by raising a flag itself, as NumPy's linear algebra does for a singular
 * matrix, would report nothing: here such flags are kept. What only the
 * processor would raise (1.0 / 0.0) stays unseen.
 */
#include <fenv.h>

/* Flags are the caller's: any bits. libc's header says that there are none. Each thread has its own
 * (posix/threads.c). */
int wasibox_float_flags;

int feraiseexcept(int flags)
{
    wasibox_float_flags |= flags;
    return 0;
}

int fetestexcept(int flags)
{
    return wasibox_float_flags & flags;
}

int feclearexcept(int flags)
{
    wasibox_float_flags &= ~flags;
    return 0;
}

int fegetround(void)
{
    return FE_TONEAREST;
}

int __fesetround(int mode)
{
    return mode == FE_TONEAREST ? 0 : -1;
}

int fegetenv(fenv_t *env)
{
    env->__cw = (unsigned long)wasibox_float_flags;
    return 0;
}

int fesetenv(const fenv_t *env)
{
    wasibox_float_flags = env == FE_DFL_ENV ? 0 : (int)env->__cw;
    return 0;
}
