"""The program that starts a command in a root that is not ours: 246 bytes that need no library and no shell.

A shell or a library of an image is the vendor's: were it asked to say that the sandbox stands, a harness could make
its own failure look like one of the platform. Called as `start CANDIDATE... "" COMMAND ARGUMENT...`; it writes one
byte to descriptor 6, closes it, and becomes the first candidate that can be executed. Exit code 127 where there is
none, 126 where one is there and cannot be run.
"""

from __future__ import annotations

import platform
import struct

from evaluation.sandbox.spec import SandboxUnavailable

_MACHINE = "x86_64"
_ADDRESS = 0x400000
_HEADERS = 64 + 56
# System call numbers of linux/amd64: write 1, close 3, execve 59, exit_group 231. The comments are GNU assembler.
_HEAD = bytes.fromhex(
    "b801000000"  # movl $1, %eax
    "bf06000000"  # movl $6, %edi
    "488d3500000000"  # leaq (next instruction), %rsi: any byte will do
    "ba01000000"  # movl $1, %edx
    "0f05"  # syscall
    "b803000000"  # movl $3, %eax
    "bf06000000"  # movl $6, %edi
    "0f05"  # syscall
)
_TAIL = bytes.fromhex(
    "488b0424"  # movq (%rsp), %rax: argc
    "4c8d74c410"  # leaq 16(%rsp,%rax,8), %r14: envp
    "4c8d642410"  # leaq 16(%rsp), %r12: candidates
    "4d89e5"  # movq %r12, %r13
    "498b4500"  # 1: movq (%r13), %rax: look for the empty string
    "4983c508"  # addq $8, %r13: behind it stands the command
    "803800"  # cmpb $0, (%rax)
    "75f3"  # jne 1b
    "41bf7f000000"  # movl $127, %r15d
    "498b3c24"  # 2: movq (%r12), %rdi
    "4983c408"  # addq $8, %r12
    "803f00"  # cmpb $0, (%rdi)
    "741f"  # je 3f
    "4c89ee"  # movq %r13, %rsi
    "4c89f2"  # movq %r14, %rdx
    "b83b000000"  # movl $59, %eax
    "0f05"  # syscall: comes back only if it failed
    "83f8fe"  # cmpl $-ENOENT, %eax
    "74e1"  # je 2b
    "83f8ec"  # cmpl $-ENOTDIR, %eax
    "74dc"  # je 2b
    "41bf7e000000"  # movl $126, %r15d
    "ebd4"  # jmp 2b
    "4489ff"  # 3: movl %r15d, %edi
    "b8e7000000"  # movl $231, %eax
    "0f05"  # syscall
)
_CODE = _HEAD + _TAIL
# The same where only standard descriptors come through: the byte goes to descriptor 0, which then is /dev/null.
_NULL = b"/dev/null\0"
_OVER_STDIN = (
    _HEAD.replace(bytes.fromhex("bf06000000"), bytes.fromhex("bf00000000"))
    + bytes.fromhex("b802000000")  # movl $2, %eax: open
    + bytes.fromhex("488d3d")  # leaq (the path behind the code), %rdi
    + struct.pack("<i", 4 + len(_TAIL))
    + bytes.fromhex("31f60f05")  # xorl %esi, %esi: for reading; syscall
    + _TAIL
    + _NULL
)


def available() -> bool:
    """Whether this processor runs it."""
    return platform.machine() == _MACHINE


def require() -> None:
    """Raises SandboxUnavailable where it does not run."""
    if not available():
        raise SandboxUnavailable("images and the official root run on linux/amd64 only")


def program() -> bytes:
    """The program as an ELF file (System V ABI, AMD64 supplement)."""
    return _elf(_CODE)


def program_over_stdin() -> bytes:
    """The same for a sandbox that hands on standard descriptors only (gVisor): its byte goes to descriptor 0."""
    return _elf(_OVER_STDIN)


def _elf(code: bytes) -> bytes:
    size = _HEADERS + len(code)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", ident, 2, 62, 1, _ADDRESS + _HEADERS, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return header + segment + code


def candidates(command: str, path: str) -> tuple[str, ...]:
    """Where the command may lie: itself if it names a place, else each folder of `path` in turn."""
    return (command,) if "/" in command else tuple(f"{folder}/{command}" for folder in path.split(":"))
