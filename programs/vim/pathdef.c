/* What `:version` says of the build, in place of the file that Vim's Makefile writes: it would
 * contain the build machine's paths. */
#include "vim.h"
char_u *default_vim_dir = (char_u *)"/usr/share/vim";
char_u *default_vimruntime_dir = (char_u *)"";
char_u *all_cflags = (char_u *)"clang";
char_u *all_lflags = (char_u *)"wasm-ld";
char_u *compiled_user = (char_u *)"";
char_u *compiled_sys = (char_u *)"";
