/* The extension modules of the image's packages, by dotted name. The table is
 * generated at the link; see xtask/src/python/link.rs. */
#ifndef WASIBOX_MODULES_H
#define WASIBOX_MODULES_H

#include <Python.h>

/* Ends with an entry without a name. */
extern struct _inittab wasibox_modules[];

#endif
