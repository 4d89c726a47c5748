"""The system-call filter of every sandbox, compiled once to BPF bytes for bubblewrap's `--seccomp`.

An allow list: what is not named here does not exist inside (ENOSYS, so that libc falls back), and the
calls a sandbox escape would want answer EPERM. Sockets: families UNIX, INET and INET6 only, stream and
datagram only, because a network namespace covers neither vsock nor netlink nor AF_ALG. ioctl is allowed
whole: a sandbox has no terminal but one it makes itself (new session, private devpts).
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
fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr
flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents
getdents64 getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link
linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat memfd_create mkdir mkdirat mknod mknodat
newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read
readahead readlink readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr splice
stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat
utime utimensat utimes vmsplice write writev
"""
_PROCESSES = """
arch_prctl capget capset execve execveat exit exit_group fork get_robust_list getegid geteuid getgid
getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid
gettid getuid kill pause pidfd_open pidfd_send_signal prctl prlimit64 restart_syscall rseq
rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid setfsuid
setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid
setuid sigaltstack landlock_add_rule landlock_create_ruleset landlock_restrict_self tgkill time times
tkill vfork wait4 waitid getitimer alarm ioprio_get ioprio_set
"""
_MEMORY = """
brk get_mempolicy madvise mbind membarrier mincore mlock mlock2 mlockall mmap mprotect mremap msync
munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect process_madvise set_mempolicy
"""
_TIME_AND_WAITING = """
clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2
epoll_wait eventfd eventfd2 futex futex_waitv getcpu getrandom gettimeofday io_cancel io_destroy
io_getevents io_pgetevents io_setup io_submit nanosleep poll ppoll pselect6 select signalfd signalfd4
sysinfo timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create
timerfd_gettime timerfd_settime uname
"""
_MESSAGES = """
accept accept4 bind connect getpeername getsockname getsockopt listen mq_getsetattr mq_notify mq_open
mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd recvfrom recvmmsg recvmsg semctl
semget semop semtimedop sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt shmget shutdown
"""
ALLOWED = tuple(" ".join((_FILES, _PROCESSES, _MEMORY, _TIME_AND_WAITING, _MESSAGES)).split())

_DANGEROUS = """
acct add_key bpf chroot delete_module fanotify_init fsconfig fsmount fsopen fspick init_module
finit_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
kexec_load keyctl listmount lookup_dcookie migrate_pages mount mount_setattr move_mount move_pages
name_to_handle_at open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pivot_root
process_vm_readv process_vm_writev ptrace quotactl reboot request_key setdomainname sethostname setns
settimeofday clock_settime adjtimex clock_adjtime statmount swapoff swapon syslog umount2 unshare
userfaultfd vhangup
"""
REFUSED = tuple(_DANGEROUS.split())

_NEW_NAMESPACES = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_TYPE_MASK = 0xF  # leaves out SOCK_CLOEXEC and SOCK_NONBLOCK
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)


def compile_filter() -> bytes:
    """Return the BPF program for this machine; raises SandboxUnavailable without libseccomp."""
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as fault:
        raise SandboxUnavailable("libseccomp is missing: install the package libseccomp2") from fault
    program = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.ENOSYS))
    program.set_attr(pyseccomp.Attr.CTL_OPTIMIZE, 2)  # a search tree: one in ~350 rules is found in 9 steps
    for name in ALLOWED:
        _add(pyseccomp, program, pyseccomp.ALLOW, name)
    for name in REFUSED:
        _add(pyseccomp, program, pyseccomp.ERRNO(errno.EPERM), name)
    _conditional(pyseccomp, program)
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
    _add(lib, program, lib.ALLOW, "clone", lib.Arg(0, lib.MASKED_EQ, _NEW_NAMESPACES, 0))
    for value in _PERSONALITIES:
        _add(lib, program, lib.ALLOW, "personality", lib.Arg(0, lib.EQ, value))


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
