/* Stands in for CPython's header of this name, whose hooks are where we need ours:
 * signals reach a WASIX process at the end of a system call, so a program that only
 * computes makes one now and then. */
#ifndef WASIBOX_EMSCRIPTEN_SIGNAL_H
#define WASIBOX_EMSCRIPTEN_SIGNAL_H

/* Lets handlers of signals that have arrived run. */
void wasibox_poll_signals(void);

/* The interpreter's loop comes by some ten million times per second; a call of the
 * host takes a tenth of a microsecond. Thus signals are seen within milliseconds,
 * and looking for them costs less than can be measured. */
#define WASIBOX_POLL_EVERY 20000
/* While there are other threads, they wait for this: one that computes gives them their turn here,
 * ten times within CPython's switch interval of 5 ms. */
#define WASIBOX_POLL_EVERY_WITH_THREADS 2000
extern int wasibox_poll_countdown;

/* PyErr_CheckSignals(): what may take long comes by from time to time, but str() and repr() of
 * anything each time. */
#define _Py_CHECK_EMSCRIPTEN_SIGNALS() \
    do { \
        if ((wasibox_poll_countdown -= 16) <= 0) \
            wasibox_poll_signals(); \
    } while (0)
#define _Py_CHECK_EMSCRIPTEN_SIGNALS_PERIODICALLY() \
    do { \
        if (--wasibox_poll_countdown <= 0) \
            wasibox_poll_signals(); \
    } while (0)

#endif
