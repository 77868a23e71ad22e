/* What the compiler wheel's mathematics gets wrong.
 *
 * Its log2 loses half of the digits of numbers below 2^-1022 (CPython's test_math finds it).
 * The linker sends all calls here.
 */
#include <float.h>

double __real_log2(double x);

double __wrap_log2(double x)
{
    if (x > 0 && x < DBL_MIN)
        return __real_log2(x * 0x1p54) - 54;
    return __real_log2(x);
}
