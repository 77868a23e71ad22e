# How git is built for the guest. git's Makefile reads this file; the caller sets CC, AR, LDFLAGS
# and EXTLIBS.

# This prevents git's Makefile from using settings of the machine that builds it.
uname_S = WASI

CFLAGS = -O2 -g0 -w
# run-command.c starts commands with spawn_with_streams (0001-start-programs-without-fork.patch).
BASIC_CFLAGS += -DNO_FORK

prefix = /usr
gitexecdir = lib/git-core
template_dir = share/git-core/templates
sysconfdir = /etc
SHELL_PATH = /bin/sh
DEFAULT_PAGER = less
DEFAULT_EDITOR = ed

# The guest has no Perl, Tcl, X, libexpat and OpenSSL.
NO_EXPAT = 1
NO_GETTEXT = 1
NO_OPENSSL = 1
NO_PERL = 1
NO_PYTHON = 1
NO_TCLTK = 1

# Preview 1 has no mmap. A call that a timer interrupts is not begun again, as git expects.
# Unix-domain sockets have no paths, and without fork no daemon can detach.
NO_MMAP = 1
NO_POSIX_GOODIES = 1
NO_SETITIMER = 1
NO_UNIX_SOCKETS = 1

# The C library's regular expressions lack REG_STARTEND, and its iconv writes UTF-16 without a byte
# order mark.
NO_REGEX = 1
ICONV_OMITS_BOM = 1

HAVE_CLOCK_GETTIME = 1
HAVE_CLOCK_MONOTONIC = 1
HAVE_GETDELIM = 1

# git-remote-http and git-sh-i18n--envsubst are parts of the same program (main.c).
CURL_CONFIG = true
CURL_LDFLAGS =
remote-curl.o: EXTRA_CPPFLAGS = -Dcmd_main=remote_http_main
sh-i18n--envsubst.o: EXTRA_CPPFLAGS = -Dcmd_main=envsubst_main
