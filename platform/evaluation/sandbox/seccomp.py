"""The system-call filter of every sandbox, compiled once to BPF bytes for bubblewrap's `--seccomp`.

An allow list: what is not named here does not exist inside (ENOSYS, so that libc falls back), and the
calls a sandbox escape would want answer EPERM. Sockets: families UNIX, INET and INET6 only, stream and
datagram only, because a network namespace covers neither vsock nor netlink nor AF_ALG. ioctl: terminals
(a sandbox has none but one it makes itself) and sockets only.

Two sandboxes share the inodes of /usr and of the bundle, and the kernel. What one could set there and the
other read is refused (leases, inotify, write hints, cache state of files, extended attributes) or does
nothing and succeeds (`_INERT`: locks, advice, sync; programs rely on these and have nobody to share with).
So are readings of the whole host: sysinfo, statfs, counters behind descriptors (asynchronous I/O, process
descriptors, socket cookies, unique mount ids). sysinfo: CPython and Node start without it;
os.getloadavg raises its documented OSError, and sysconf(_SC_PHYS_PAGES) gives no useful number.

Calls by another ABI than the native one (32-bit, x32) kill the process.
"""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from collections.abc import Iterable
from typing import Any

from evaluation.sandbox.spec import SandboxUnavailable

_FILES = """
access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fdatasync fgetxattr
flistxattr fstat fsync ftruncate futimesat getcwd getdents
getdents64 getxattr lchown lgetxattr link
linkat listxattr llistxattr lseek lstat memfd_create mkdir mkdirat mknod mknodat
newfstatat open openat openat2 pipe pipe2 pread64 preadv pwrite64 pwritev read
readlink readlinkat readv rename renameat renameat2 rmdir sendfile splice
stat symlink symlinkat tee truncate umask unlink unlinkat
utime utimensat utimes vmsplice write writev
"""
_PROCESSES = """
arch_prctl capget capset execve execveat exit exit_group fork get_robust_list getegid geteuid getgid
getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid
gettid getuid kill pause prlimit64 restart_syscall rseq
rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid setfsuid
setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid
setuid sigaltstack landlock_add_rule landlock_create_ruleset landlock_restrict_self tgkill time times
tkill vfork wait4 waitid getitimer alarm ioprio_get ioprio_set
"""
_MEMORY = """
brk get_mempolicy mbind membarrier mlock mlock2 mlockall mmap mprotect mremap msync
munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect set_mempolicy
"""
_TIME_AND_WAITING = """
clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2
epoll_wait eventfd eventfd2 futex futex_waitv getcpu getrandom gettimeofday nanosleep poll
ppoll pselect6 select signalfd signalfd4 timer_create timer_delete timer_getoverrun timer_gettime timer_settime
timerfd_create timerfd_gettime timerfd_settime uname
"""
_MESSAGES = """
accept accept4 bind connect getpeername getsockname listen mq_getsetattr mq_notify mq_open
mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd recvfrom recvmmsg recvmsg semctl
semget semop semtimedop sendmmsg sendmsg sendto shmat shmctl shmdt shmget shutdown
"""
ALLOWED = tuple(" ".join((_FILES, _PROCESSES, _MEMORY, _TIME_AND_WAITING, _MESSAGES)).split())

_DANGEROUS = """
acct add_key bpf chroot delete_module fanotify_init fsconfig fsmount fsopen fspick init_module
finit_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
kexec_load keyctl listmount lookup_dcookie migrate_pages mount mount_setattr move_mount move_pages
name_to_handle_at open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pidfd_open
pidfd_send_signal pivot_root process_vm_readv process_vm_writev ptrace quotactl reboot request_key setdomainname
sethostname setns settimeofday clock_settime adjtimex clock_adjtime statmount swapoff swapon syslog umount2 unshare
userfaultfd vhangup
"""
_SHARED = """
cachestat fanotify_mark inotify_add_watch inotify_init inotify_init1 inotify_rm_watch mincore
process_madvise
"""
REFUSED = tuple((_DANGEROUS + _SHARED).split())
# Succeed and do nothing.
_INERT = ("fadvise64", "flock", "readahead", "sync", "sync_file_range", "syncfs")
# "This file system has none": what tools expect where extended attributes cannot be set.
_UNSUPPORTED = ("fremovexattr", "fsetxattr", "lremovexattr", "lsetxattr", "removexattr", "setxattr")
# fcntl commands by number: descriptors, flags, owner and signal, pipe size, seals. Where a lock is only asked
# for (5, 36) the kernel may answer: with no lock anywhere that is "free", which SQLite needs to hear.
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 15, 16, 36, 1027, 1028, 1030, 1031, 1032, 1033, 1034)
_FCNTL_INERT = (6, 7, 37, 38)  # F_SETLK, F_SETLKW and the same for open file descriptions
_FCNTL_REFUSED = (1024, 1025, 1026, 1029, *range(1035, 1049))  # leases, notify, write hints, delegations
# By the second byte of the request: terminals and FIO*, sockets. What file systems, block devices and
# namespaces would answer is "not such a device", as tools expect.
_IOCTL_ALLOWED = (0x54, 0x89)
_IOCTL_REFUSED = (0x00, 0x12, 0x52, 0x58, 0x66, 0x76, 0x94, 0xB7, 0xFF)
_MADVISE_INERT = (3, 12, 20, 21)  # WILLNEED, MERGEABLE, COLD, PAGEOUT
_MADVISE_REFUSED = (100, 101)  # memory errors
_MADVISE_ALLOWED = (0, 1, 2, 4, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 25, 102, 103)
_STATX_UNIQUE_MOUNT = 0x4000
# All but HIPRI, DSYNC, SYNC and APPEND: NOWAIT tells what is cached, DONTCACHE evicts it.
_RWF_OF_THE_CACHE = 0xFFFFFFFF ^ 0x17
_SOCKET_OPTIONS = (57, 71, 76, 77)  # COOKIE, NETNS_COOKIE, PASSPIDFD, PEERPIDFD
_PR_SET_MEMORY_MERGE = 67

_CLONE_REFUSED = 0x7E021080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}, CLONE_PIDFD
_TYPE_MASK = 0xF  # leaves out SOCK_CLOEXEC and SOCK_NONBLOCK
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)


def compile_filter() -> bytes:
    """Return the BPF program for this machine; raises SandboxUnavailable without libseccomp."""
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as fault:
        raise SandboxUnavailable("libseccomp is missing: install the package libseccomp2") from fault
    program = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.ENOSYS))
    program.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    program.set_attr(pyseccomp.Attr.CTL_OPTIMIZE, 2)  # a search tree: one in ~350 rules is found in 9 steps
    for name in ALLOWED:
        _add(pyseccomp, program, pyseccomp.ALLOW, name)
    for name in REFUSED:
        _add(pyseccomp, program, pyseccomp.ERRNO(errno.EPERM), name)
    for name in _INERT:
        _add(pyseccomp, program, pyseccomp.ERRNO(0), name)
    for name in _UNSUPPORTED:
        _add(pyseccomp, program, pyseccomp.ERRNO(errno.EOPNOTSUPP), name)
    _conditional(pyseccomp, program)
    _shared(pyseccomp, program)
    with tempfile.TemporaryFile() as out:
        program.export_bpf(out)
        out.seek(0)
        return out.read()


def _add(lib: Any, program: Any, action: int, name: str, *conditions: Any) -> None:
    """Add one rule; a call this machine's architecture or libseccomp does not know stays ENOSYS."""
    try:
        program.add_rule(action, name, *conditions)
    except (ValueError, OSError) as fault:
        if conditions:
            raise SandboxUnavailable(f"seccomp rule for {name} was refused: {fault}") from fault


def _conditional(lib: Any, program: Any) -> None:
    """Rules that look at arguments: sockets, clone, personality."""
    unix, inet, inet6 = socket.AF_UNIX, socket.AF_INET, socket.AF_INET6
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        of_kind = lib.Arg(1, lib.MASKED_EQ, _TYPE_MASK, kind)
        _add(lib, program, lib.ALLOW, "socket", lib.Arg(0, lib.EQ, unix), of_kind)
        _add(lib, program, lib.ALLOW, "socketpair", lib.Arg(0, lib.EQ, unix), of_kind)
    for family in (inet, inet6):
        for kind, protocol in ((socket.SOCK_STREAM, 6), (socket.SOCK_DGRAM, 17)):
            for number in (0, protocol):
                _add(
                    lib,
                    program,
                    lib.ALLOW,
                    "socket",
                    lib.Arg(0, lib.EQ, family),
                    lib.Arg(1, lib.MASKED_EQ, _TYPE_MASK, kind),
                    lib.Arg(2, lib.EQ, number),
                )
    _add(lib, program, lib.ALLOW, "clone", lib.Arg(0, lib.MASKED_EQ, _CLONE_REFUSED, 0))
    for value in _PERSONALITIES:
        _add(lib, program, lib.ALLOW, "personality", lib.Arg(0, lib.EQ, value))


def _shared(lib: Any, program: Any) -> None:
    """Rules that look at arguments: what two sandboxes could say to each other through shared files."""
    refuse, inert = lib.ERRNO(errno.EPERM), lib.ERRNO(0)

    def each(action: int, name: str, index: int, values: Iterable[int]) -> None:
        for value in values:
            # 32 bits: the kernel does not look at the upper half of these arguments.
            _add(lib, program, action, name, lib.Arg(index, lib.MASKED_EQ, 0xFFFFFFFF, value))

    each(lib.ALLOW, "fcntl", 1, _FCNTL_ALLOWED)
    each(inert, "fcntl", 1, _FCNTL_INERT)
    each(refuse, "fcntl", 1, _FCNTL_REFUSED)
    for action, kinds in ((lib.ALLOW, _IOCTL_ALLOWED), (lib.ERRNO(errno.ENOTTY), _IOCTL_REFUSED)):
        for kind in kinds:
            _add(lib, program, action, "ioctl", lib.Arg(1, lib.MASKED_EQ, 0xFF00, kind << 8))
    each(inert, "madvise", 2, _MADVISE_INERT)
    each(refuse, "madvise", 2, _MADVISE_REFUSED)
    each(lib.ALLOW, "madvise", 2, _MADVISE_ALLOWED)
    _add(lib, program, lib.ALLOW, "statx", lib.Arg(3, lib.MASKED_EQ, _STATX_UNIQUE_MOUNT, 0))
    for name in ("preadv2", "pwritev2"):
        _add(lib, program, lib.ALLOW, name, lib.Arg(5, lib.MASKED_EQ, _RWF_OF_THE_CACHE, 0))
    for name in ("getsockopt", "setsockopt"):
        each(refuse, name, 2, _SOCKET_OPTIONS)
        each(lib.ALLOW, name, 2, sorted(set(range(256)) - set(_SOCKET_OPTIONS)))
    each(refuse, "prctl", 0, (_PR_SET_MEMORY_MERGE,))
    each(lib.ALLOW, "prctl", 0, sorted(set(range(1, 80)) - {_PR_SET_MEMORY_MERGE}))


def numbers(names: Iterable[str]) -> dict[str, int]:
    """The call numbers of this machine for those of `names` that it has."""
    import pyseccomp

    found = {}
    for name in names:
        try:
            number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
        except ValueError:
            continue
        if number >= 0:
            found[name] = number
    return found


def open_filter(program: bytes) -> int:
    """Return a new file descriptor at the start of `program`; the caller closes it."""
    fd = os.memfd_create("seccomp")
    os.write(fd, program)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
