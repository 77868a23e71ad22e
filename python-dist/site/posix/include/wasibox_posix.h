/* What our layer over WASIX adds to wasi-libc, for the modules of CPython that are
 * compiled against it (xtask/src/python/posix.rs has the list). Included before
 * everything else, so that pyconfig.h, which describes plain preview 1, is read with
 * these answers given. Packages never see it.
 *
 * Meaning of each function: POSIX.1-2017, System Interfaces, under its name; what
 * differs stands at its definition.
 */
#ifndef WASIBOX_POSIX_H
#define WASIBOX_POSIX_H

#define ENABLE_IPV6 1
#define HAVE_ALARM 1
#define HAVE_ADDRINFO 1
#define HAVE_BIND 1
#define HAVE_DEVICE_MACROS 1
#define MAJOR_IN_SYSMACROS 1
#define HAVE_CONNECT 1
#define HAVE_CTERMID 1
#define HAVE_DUP 1
#define HAVE_DUP3 1
#define HAVE_EPOLL 1
#define HAVE_EPOLL_CREATE1 1
#define HAVE_SYS_EPOLL_H 1
#define HAVE_EXECV 1
#define HAVE_FCHMOD 1
#define HAVE_FCHOWN 1
#define HAVE_FLOCK 1
#define HAVE_FSTATVFS 1
#define HAVE_SYS_STATVFS_H 1
#define HAVE_SYS_FILE_H 1
#define HAVE_GETGROUPLIST 1
#define HAVE_GETITIMER 1
#define HAVE_GETPRIORITY 1
#define HAVE_GETRANDOM 1
#define HAVE_GETRESGID 1
#define HAVE_GETRESUID 1
#define HAVE_INITGROUPS 1
#define HAVE_LOCKF 1
#define HAVE_NICE 1
#define HAVE_POSIX_FALLOCATE 1
#define HAVE_PREADV 1
#define HAVE_PTHREAD_KILL 1
#define HAVE_PWRITEV 1
#define HAVE_READV 1
#define HAVE_SETEGID 1
#define HAVE_SETEUID 1
#define HAVE_SETGID 1
#define HAVE_SETGROUPS 1
#define HAVE_SETITIMER 1
#define HAVE_SETPGRP 1
#define HAVE_SETPRIORITY 1
#define HAVE_SETREGID 1
#define HAVE_SETRESGID 1
#define HAVE_SETRESUID 1
#define HAVE_SETREUID 1
#define HAVE_SETUID 1
#define HAVE_SIGINFO_T 1
#define HAVE_SIGTIMEDWAIT 1
#define HAVE_SIGWAIT 1
#define HAVE_SIGWAITINFO 1
#define HAVE_STATVFS 1
#define HAVE_SYNC 1
#define HAVE_WRITEV 1
#define HAVE_CHMOD 1
#define HAVE_CHOWN 1
#define HAVE_GAI_STRERROR 1
#define HAVE_GETADDRINFO 1
#define HAVE_LCHOWN 1
#define HAVE_GETEGID 1
#define HAVE_GETEUID 1
#define HAVE_GETGID 1
#define HAVE_GETGROUPS 1
#define HAVE_GETHOSTBYADDR 1
#define HAVE_GETHOSTBYNAME 1
#define HAVE_GETHOSTNAME 1
#define HAVE_GETLOGIN 1
#define HAVE_GETNAMEINFO 1
#define HAVE_GETPEERNAME 1
#define HAVE_GETPGID 1
#define HAVE_GETPGRP 1
#define HAVE_GETPPID 1
#define HAVE_GETPROTOBYNAME 1
#define HAVE_GETSERVBYNAME 1
#define HAVE_GETSERVBYPORT 1
#define HAVE_GETSID 1
#define HAVE_GETSOCKNAME 1
#define HAVE_GETUID 1
#define HAVE_GETPWENT 1
#define HAVE_GRANTPT 1
#define HAVE_IF_NAMEINDEX 1
#define HAVE_INET_NTOA 1
#define HAVE_NET_IF_H 1
#define HAVE_KILL 1
#define HAVE_KILLPG 1
#define HAVE_LISTEN 1
#define HAVE_LOGIN_TTY 1
#define HAVE_MKFIFO 1
#define HAVE_OPENPTY 1
#define HAVE_NETDB_H 1
#define HAVE_PAUSE 1
#define HAVE_PIPE 1
#define HAVE_PIPE2 1
#define HAVE_POSIX_OPENPT 1
#define HAVE_POSIX_SPAWN 1
#define HAVE_POSIX_SPAWNP 1
#define HAVE_PTHREAD_SIGMASK 1
#define HAVE_PTSNAME 1
#define HAVE_PTSNAME_R 1
#define HAVE_PTY_H 1
#define HAVE_RECVFROM 1
#define HAVE_SENDTO 1
#define HAVE_SETPGID 1
#define HAVE_SETSID 1
#define HAVE_SETSOCKOPT 1
#define HAVE_SHUTDOWN 1
#define HAVE_SIGFILLSET 1
#define HAVE_SIGINTERRUPT 1
#define HAVE_SIGPENDING 1
#define HAVE_SIGSET_T 1
#define HAVE_SOCKET 1
#define HAVE_SOCKETPAIR 1
#define HAVE_SPAWNV 1
#define HAVE_SPAWN_H 1
#define HAVE_STRUCT_PASSWD_PW_GECOS 1
#define HAVE_STRUCT_PASSWD_PW_PASSWD 1
#define HAVE_SYSTEM 1
#define HAVE_SYS_UN_H 1
#define HAVE_SYS_WAIT_H 1
#define HAVE_TCGETPGRP 1
#define HAVE_TCSETPGRP 1
#define HAVE_TERMIOS_H 1
#define HAVE_TTYNAME_R 1
#define HAVE_UMASK 1
#define HAVE_UNLOCKPT 1
#define HAVE_WAIT 1
#define HAVE_WAITPID 1
#define HAVE_WORKING_TZSET 1

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
/* Processor time is the kernel's: times.c. */
#ifndef _WASI_EMULATED_PROCESS_CLOCKS
#define _WASI_EMULATED_PROCESS_CLOCKS
#endif
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* times.c, for CPython's modules. */
#if defined(Py_BUILD_CORE) || defined(Py_BUILD_CORE_BUILTIN)
#include "wasibox_errors.h"
#define PY_HAVE_THREAD_NATIVE_ID
unsigned long PyThread_get_thread_native_id(void);
#include <sys/ttydefaults.h>
#define PIPE_BUF 4096
/* No other clocks go at another rate. */
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#define CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC
struct rusage;
struct tms;
struct __clockid;
extern const struct __clockid wasibox_process_clock, wasibox_thread_clock;
#undef CLOCK_PROCESS_CPUTIME_ID
#undef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_PROCESS_CPUTIME_ID (&wasibox_process_clock)
#define CLOCK_THREAD_CPUTIME_ID (&wasibox_thread_clock)
int wasibox_getrusage(int who, struct rusage *usage);
#define getrusage wasibox_getrusage
clock_t wasibox_times(struct tms *out);
#define times wasibox_times
size_t wasibox_strftime(char *out, size_t most, const char *format, const struct tm *tm);
#define strftime wasibox_strftime
#include <wchar.h>
size_t wasibox_wcsftime(wchar_t *out, size_t most, const wchar_t *format, const struct tm *tm);
#define wcsftime wasibox_wcsftime
#endif
long wasibox_sysconf(int name);

/* descriptors.c */
#define F_DUPFD 0
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define F_DUPFD_CLOEXEC 1030
int dup(int fd);
int dup2(int fd, int to);
int dup3(int fd, int to, int flags);
int pipe(int ends[2]);
int pipe2(int ends[2], int flags);
int wasibox_is_preopened(int fd);
int wasibox_close(int fd);
/* Is called with each descriptor that is closed or replaced; epoll.c sets it. */
extern void (*wasibox_on_close)(int fd);
#define close(fd) wasibox_close(fd)
/* With the answers that are true of this system. */
long wasibox_sysconf(int name);
#define sysconf(name) wasibox_sysconf(name)
/* locks.c */
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define F_ULOCK 0
#define F_LOCK 1
#define F_TLOCK 2
#define F_TEST 3
struct flock;
int flock(int fd, int operation);
int lockf(int fd, int command, off_t length);
int wasibox_record_lock(int fd, int command, struct flock *lock);
int wasibox_fcntl(int fd, int command, ...);
#define fcntl wasibox_fcntl
/* wasi-libc's is 0. A bit that its open() leaves alone; pipe2 and dup3 heed it. */
#undef O_CLOEXEC
#define O_CLOEXEC 0x20000000

/* terminals.c. The structure keeps libc's <termios.h> from defining it again. */
#define __DEFINED_struct_winsize
struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
#include "wasibox_ioctls.h"
#include <termios.h>
int tcsetpgrp(int fd, pid_t group);
pid_t tcgetpgrp(int fd);
int posix_openpt(int flags);
int grantpt(int fd);
int unlockpt(int fd);
char *ptsname(int fd);
int ptsname_r(int fd, char *name, size_t room);
char *ttyname(int fd);
int ttyname_r(int fd, char *name, size_t room);
char *ctermid(char *name);
int login_tty(int fd);
int wasibox_ioctl(int fd, int request, ...);
#define ioctl wasibox_ioctl

/* process.c */
pid_t getpid(void);
pid_t getppid(void);
pid_t getpgid(pid_t pid);
pid_t getpgrp(void);
pid_t getsid(pid_t pid);
int setpgid(pid_t pid, pid_t group);
pid_t setsid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int getgroups(int size, gid_t *list);
pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);
int execv(const char *path, char *const argv[]);
int execve(const char *path, char *const argv[], char *const envp[]);
int system(const char *command);
extern char **environ;
/* As in Windows' <process.h>, which os.spawnv knows beside fork. */
enum { _P_WAIT, _P_NOWAIT, _P_OVERLAY, _P_NOWAITO, _P_DETACH };
#define _OLD_P_OVERLAY _P_OVERLAY
intptr_t _spawnv(int mode, const char *path, char *const argv[]);
intptr_t _spawnve(int mode, const char *path, char *const argv[], char *const envp[]);

/* signals.c, for actions.c */
void (*wasibox_handler_of(int number))(int);
void wasibox_set_restarting(int number);
/* For programs that rely on SA_RESTART. */
ssize_t wasibox_restarting_read(int fd, void *out, size_t count);

/* timers.c */
struct itimerval {
    struct timeval it_interval, it_value;
};
#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2
int getitimer(int which, struct itimerval *out);
int setitimer(int which, const struct itimerval *__restrict value,
              struct itimerval *__restrict old);
unsigned alarm(unsigned seconds);
extern int wasibox_timer_is_set;
void wasibox_alarm_arrived(void);

/* resources.c */
#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2
/* libc's say ENOSYS, or nothing of the sizes. */
#include <sys/statvfs.h>
int wasibox_statvfs(const char *path, struct statvfs *out);
int wasibox_fstatvfs(int fd, struct statvfs *out);
#define statvfs(path, out) wasibox_statvfs(path, out)
#define fstatvfs(fd, out) wasibox_fstatvfs(fd, out)
int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int value);
int nice(int more);
int setuid(uid_t user);
int seteuid(uid_t user);
int setgid(gid_t group);
int setegid(gid_t group);
int setreuid(uid_t real, uid_t effective);
int setregid(gid_t real, gid_t effective);
int setresuid(uid_t real, uid_t effective, uid_t saved);
int setresgid(gid_t real, gid_t effective, gid_t saved);
int getresuid(uid_t *real, uid_t *effective, uid_t *saved);
int getresgid(gid_t *real, gid_t *effective, gid_t *saved);
int setgroups(size_t count, const gid_t *list);
int initgroups(const char *user, gid_t group);
int getgrouplist(const char *user, gid_t group, gid_t *list, int *count);
int setpgrp(void);
int wasibox_fchmod(int fd, mode_t mode);
#define fchmod(fd, mode) wasibox_fchmod(fd, mode)
int fchown(int fd, uid_t owner, gid_t group);
void sync(void);
ssize_t getrandom(void *out, size_t count, unsigned flags);

/* files.c */
/* libc has one that does nothing, in one object with functions that are needed. */
int wasibox_chmod(const char *path, mode_t mode);
#define chmod(path, mode) wasibox_chmod(path, mode)
int chown(const char *path, uid_t owner, gid_t group);
int lchown(const char *path, uid_t owner, gid_t group);
int mkfifo(const char *path, mode_t mode);
mode_t umask(mode_t mask);
/* With permission bits and owners, which preview 1 lacks. */
int wasibox_stat(const char *path, struct stat *out);
int wasibox_lstat(const char *path, struct stat *out);
int wasibox_fstat(int fd, struct stat *out);
int wasibox_access(const char *path, int mode);
#define stat(path, out) wasibox_stat(path, out)
#define lstat(path, out) wasibox_lstat(path, out)
#define fstat(fd, out) wasibox_fstat(fd, out)
#define access(path, mode) wasibox_access(path, mode)
int wasibox_fstatat(int dir, const char *path, struct stat *out, int flags);
#define fstatat(dir, path, out, flags) wasibox_fstatat(dir, path, out, flags)
/* With the bits of their mode, and under the process's mask of the moment. */
int wasibox_open(const char *path, int flags, ...);
int wasibox_mkdir(const char *path, mode_t mode);
#define open(...) wasibox_open(__VA_ARGS__)
#define mkdir(path, mode) wasibox_mkdir(path, mode)

/* waiting.c */
int wasibox_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                            struct timespec *rest);
int wasibox_select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *time);
#define clock_nanosleep(clock, flags, time, rest) wasibox_clock_nanosleep(clock, flags, time, rest)
#define select(...) wasibox_select(__VA_ARGS__)

/* zone/zone.c */
void tzset(void);

/* names.c; <sys/socket.h> and <netdb.h> have the rest of it and of sockets.c */
int gethostname(char *name, size_t room);

/* signals.c; bit N-1 of a set is signal N. */
enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
#define SIG_BLOCK SIG_BLOCK
#define SIG_UNBLOCK SIG_UNBLOCK
#define SIG_SETMASK SIG_SETMASK
typedef uint64_t wasibox_sigset;
#define sigset_t wasibox_sigset
int kill(pid_t pid, int number);
int killpg(pid_t group, int number);
int pause(void);
int siginterrupt(int number, int flag);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int sigdelset(sigset_t *set, int number);
int sigismember(const sigset_t *set, int number);
int sigpending(sigset_t *set);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
union sigval {
    int sival_int;
    void *sival_ptr;
};
typedef struct {
    int si_signo, si_errno, si_code;
    pid_t si_pid;
    uid_t si_uid;
    int si_status;
    void *si_addr;
    union sigval si_value;
} wasibox_siginfo;
#define siginfo_t wasibox_siginfo
int sigwait(const sigset_t *set, int *number);
int sigwaitinfo(const sigset_t *set, siginfo_t *info);
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time);
int pthread_kill(pthread_t thread, int number);

#endif
