/* Ending threads: at the end of a cell, and before an interpreter's last steps.
 *
 * Between two cells an interpreter is nothing but its memory, so that no thread can be left. Those that a
 * cell leaves end where they wait, and to the interpreter it is then what the child of a fork is to it: what
 * CPython does there is done here. lib/_wasibox_cell.py has waited for those that will end by
 * themselves.
 */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <internal/pycore_ceval.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_parking_lot.h>
#include <internal/pycore_pystate.h>
#include <internal/pycore_pythread.h>
#include <internal/pycore_runtime.h>

#include "posix/threads.h"
#include "snapshot.h"

/* Declared for systems that have fork only. */
void _PyThread_AfterFork(struct _pythread_runtime_state *state);

int wasibox_has_threads(void)
{
    return wasibox_thread_count > 0;
}

void wasibox_end_threads(void)
{
    PyThreadState *me = PyThreadState_Get();
    wasibox_threads_end();
    _PyThread_AfterFork(&_PyRuntime.threads);
    _PyParkingLot_AfterFork();
    /* Somebody who is no more may have asked for the lock, and would be waited for. */
    _Py_unset_eval_breaker_bit(me, _PY_GIL_DROP_REQUEST_BIT);
    me->interp->threads.count = 0;
    PyThreadState *others = _PyThreadState_RemoveExcept(me);
    _PyThreadState_DeleteList(others);
}

void wasibox_stop_threads(void)
{
    PyThreadState *me = PyThreadState_Get();
    _PyInterpreterState_SetFinalizing(me->interp, me);
    _PyRuntimeState_SetFinalizing(&_PyRuntime, me);
}
