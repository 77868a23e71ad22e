/* The start of SQLite in the shell (SQLITE_EXTRA_INIT): locks as in Python's module
 * (python-dist/site/posix/sqlite.c), because the guest has none of its own. */
void wasibox_sqlite_begin(void);
int sqlite_shell_begin(const char *unused);

int sqlite_shell_begin(const char *unused)
{
    (void)unused;
    wasibox_sqlite_begin();
    return 0;
}
