/* The kernel's node of requests about descriptors and processes (tools/abi/src/terminal.rs). */
#ifndef WASIBOX_TERMINAL_NODE_H
#define WASIBOX_TERMINAL_NODE_H

#include <stddef.h>

enum wasibox_operation {
    GET_ATTRIBUTES = 1, SET_ATTRIBUTES, GET_SIZE, SET_SIZE, GET_FOREGROUND, SET_FOREGROUND,
    GET_SESSION, GET_NAME, SET_CONTROLLING, DROP_CONTROLLING, FLUSH, FLOW, SEND_BREAK,
    INPUT_COUNT, OUTPUT_COUNT, GET_MEMBERSHIP, SET_GROUP, LOCK_FILE, LOCK_RANGE,
};

/* Does one operation. `in` is its argument, the answer of exactly `room` bytes goes to `out`.
 * Returns 0, or -1 and sets errno: ENOTTY where there is no node. */
int wasibox_node_request(enum wasibox_operation operation, int number, const void *in,
                         size_t count, void *out, size_t room);

#endif
