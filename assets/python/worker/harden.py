"""Shuts the worker in, before anything that is not ours runs: limits of the system, no capabilities, no new
privileges, files and network through Landlock, processes and the rest through a seccomp filter.

All of it is done here and not by the host because the calls have to be made by the process itself, after it has
started; `ctypes` makes them. Without Landlock or seccomp a worker refuses to start: there is no half of this.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_FILE_BYTES = 64 << 20
_FILES = 256

# Of both architectures; the first three numbers are the same on all of them.
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_EPERM, _ENOSYS = 1, 38

# Name -> number on x86-64 and on AArch64 (None: it has no such call).
_DENIED = {
    # Other processes, and becoming another program.
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "setpriority": (141, 140), "setpgid": (109, 154), "setsid": (112, 157), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "ioprio_set": (251, 30), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "process_mrelease": (448, 448),
    # The network. A pair of sockets, which an event loop needs, is another call. With messages go descriptors, and
    # those on their way are files that nobody sees.
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    # Memory that no limit counts, and what happens in directories that cannot be read.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "fanotify_init": (300, 262),
    "inotify_add_watch": (254, 27),
    # Limits that were set, and the system itself.
    "setrlimit": (160, 164), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "acct": (163, 89), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "quotactl": (179, 60), "quotactl_fd": (443, 443), "personality": (135, 92),
    "ioperm": (173, None), "iopl": (172, None), "mq_open": (240, 180), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "seccomp": (317, 277),
    # Rights of files: Landlock does not know of them. Nor does it of this one before its third version.
    "truncate": (76, 45),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88), "futimesat": (261, None),
}  # fmt: skip
# Calls that depend on an argument.
_CLONE, _CLONE3, _KILL, _TGKILL, _AFFINITY = (56, 220), (435, 435), (62, 129), (234, 131), (203, 122)
_PRLIMIT, _PRCTL, _SOCKETPAIR, _FCNTL, _IOCTLS = (302, 261), (157, 167), (53, 199), (72, 25), (16, 29)
# The highest number that was looked at (fchmodat2). What later kernels add is missing.
_LAST_KNOWN = 452
# A thread of this process, with its descriptors: CLONE_THREAD and CLONE_FILES.
_THREAD = 0x10400
_AF_UNIX, _SOCK_STREAM = 1, 1
# A signal for, or a lease against, another process: F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY; FIOSETOWN,
# SIOCSPGRP; and typing into a terminal: TIOCSTI, TIOCLINUX.
_DENIED_FCNTLS, _DENIED_IOCTLS = (8, 10, 15, 1024, 1026), (0x8901, 0x8902, 0x5412, 0x541C)
# The host sees its descriptors, and its end stays tied to the host's.
_PR_SET_DUMPABLE = 4
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

# Rights of Landlock's first version: all but to read files and directories are writing, and to execute.
_EXECUTE, _WRITE, _READ, _READ_DIR, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
_FS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_FS_NOW = (1 << 16) - 1
# Of the machine: what interpreters and libraries read. No file of a person's is below them. (docs/repl.md lists them.)
_READABLE = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache",
    "/etc/localtime", "/etc/mime.types", "/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/stat", "/proc/self", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
)  # fmt: skip


def _check(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _prctl(option, *arguments):
    return _libc.prctl(option, *[ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]])


def landlock_version():
    """The version of Landlock that this kernel has; 0 where it has none, or it is switched off."""
    return max(0, _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1))


def _has_seccomp():
    # A filter at no address is refused as that (14), where filters exist.
    return platform.machine() in _MACHINES and _prctl(_PR_SET_SECCOMP, 2) < 0 and ctypes.get_errno() == 14


def _of_packages(path):
    return os.path.basename(path) in ("site-packages", "dist-packages")


def _readable():
    """Where the machine's libraries, the standard library and installed packages are. Not: what else is in `sys.path`,
    as a project that was installed to be edited, and the places that hold the interpreter."""
    library = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.join(sys.base_prefix, "lib")]
    packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]
    machine = [os.path.realpath(path) for path in (*_READABLE, *library)]
    for path in (*machine, *filter(_of_packages, map(os.path.realpath, packages))):
        # A home, or everything, is no place of the interpreter's.
        if path not in ("/", os.path.expanduser("~")) and os.path.exists(path):
            yield path


def _restrict_files(version):
    handled = _FS_BY_VERSION.get(version, _FS_NOW)
    network = 3 if version >= 4 else 0  # binding and connecting of TCP
    scoped = 3 if version >= 6 else 0  # abstract sockets and signals
    attributes = struct.pack("=QQQ", handled, network, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _check(_libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0), "Landlock")

    def allow(path, rights):
        where = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            rights &= _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
        rule = struct.pack("=Qi", rights & handled, where)
        _check(_libc.syscall(_LANDLOCK_ADD, rules, 1, rule, 0), f"Landlock, {path}")
        os.close(where)

    for path in dict.fromkeys(_readable()):
        allow(path, _READ | _READ_DIR)
    allow("/dev/null", _READ | _WRITE)
    # Its own empty directory: everything but to execute, and to make devices, sockets and pipes.
    allow(os.getcwd(), handled & ~(_EXECUTE | 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11))
    _check(_libc.syscall(_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)


# Of the filter's language: load a word, compare it, give the verdict. Jumps count instructions.
_LOAD, _MASK, _EQUAL, _ABOVE, _ANY_OF, _GIVE = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _DENY, _MISSING = 0x7FFF0000, 0x80000000, 0x00050000 | _EPERM, 0x00050000 | _ENOSYS


def _argument(which):
    """Loads the low half of an argument: all of it, where the kernel takes an `int`."""
    return (_LOAD, 0, 0, 16 + 8 * which)


def _on(number, *rest):
    """Instructions for one call; they end with a verdict."""
    return [(_EQUAL, 0, len(rest), number), *rest]


def _unless(which, denied):
    """Denies the call with one of these values."""
    looks = [step for value in denied for step in ((_EQUAL, 0, 1, value), (_GIVE, 0, 0, _DENY))]
    return [_argument(which), *looks, (_GIVE, 0, 0, _ALLOW)]


def _only(which, allowed):
    """Allows the call with one of these values."""
    looks = [step for value in allowed for step in ((_EQUAL, 0, 1, value), (_GIVE, 0, 0, _ALLOW))]
    return [_argument(which), *looks, (_GIVE, 0, 0, _DENY)]


def _with_arguments(column):
    """The calls that are allowed sometimes."""
    own, verdicts = os.getpid(), [(_GIVE, 0, 0, _DENY), (_GIVE, 0, 0, _ALLOW)]
    # A new thread is no new process. Of clone3 the arguments cannot be seen: the C library falls back to clone.
    yield _on(_CLONE3[column], (_GIVE, 0, 0, _MISSING))
    yield _on(_CLONE[column], _argument(0), (_MASK, 0, 0, _THREAD), (_EQUAL, 1, 0, _THREAD), *verdicts)
    # Signals go to itself only, and so does what moves threads between processors.
    yield _on(_KILL[column], *_only(0, [own]))
    yield _on(_TGKILL[column], *_only(0, [own]))
    yield _on(_AFFINITY[column], *_only(0, [0, own]))
    yield _on(_PRCTL[column], *_unless(0, [_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE]))
    yield _on(_FCNTL[column], *_unless(1, _DENIED_FCNTLS))
    yield _on(_IOCTLS[column], *_unless(1, _DENIED_IOCTLS))
    # A pair that is connected for good: one of datagrams may send to any socket of the machine.
    unix = [_argument(0), (_EQUAL, 1, 0, _AF_UNIX), (_GIVE, 0, 0, _DENY)]
    stream = [_argument(1), (_MASK, 0, 0, 0xF), (_EQUAL, 1, 0, _SOCK_STREAM)]
    yield _on(_SOCKETPAIR[column], *unix, *stream, *verdicts)
    # Limits may be asked for, but not set: root could raise them. (Both halves of the address.)
    null = [_argument(2), (_EQUAL, 0, 2, 0), (_LOAD, 0, 0, 16 + 8 * 2 + 4), (_EQUAL, 1, 0, 0)]
    yield _on(_PRLIMIT[column], *null, *verdicts)


def _filter():
    """The program of the seccomp filter, as (code, jump if true, jump if false, constant)."""
    column, architecture = _MACHINES[platform.machine()]
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_GIVE, 0, 0, _KILL_PROCESS), (_LOAD, 0, 0, 0)]
    # The other calling convention of x86-64 has numbers of its own.
    program += [(_ANY_OF, 0, 1, 0x40000000), (_GIVE, 0, 0, _KILL_PROCESS)] if column == 0 else []
    program += [(_ABOVE, 0, 1, _LAST_KNOWN), (_GIVE, 0, 0, _MISSING)]
    for number in [numbers[column] for numbers in _DENIED.values()]:
        if number is not None:
            program += _on(number, (_GIVE, 0, 0, _DENY))
    for one in _with_arguments(column):
        program += one
    return [*program, (_GIVE, 0, 0, _ALLOW)]


def _restrict_calls():
    instructions = _filter()
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in instructions))
    program = struct.pack("@HP", len(instructions), ctypes.addressof(code))
    _check(_libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(2), program, 0, 0), "seccomp")


def _drop_capabilities():
    for capability in range(64):
        if _prctl(_PR_CAPBSET_DROP, capability) < 0:
            break
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _check(_libc.capset(header, none), "capset")


def _limit(which, value):
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _limits(memory):
    with open("/proc/self/statm") as file:
        own = int(file.read().split()[0]) * resource.getpagesize()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, _FILES)
    # What the interpreter has mapped is not the user's.
    _limit(resource.RLIMIT_AS, own + memory)


def harden(memory, parent):
    """Shuts this process in: `memory` bytes beside what it has, and its end with that of `parent`."""
    os.setsid()
    _check(_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        os._exit(0)
    _limits(memory)
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
    version = landlock_version()
    if not version or not _has_seccomp():
        raise OSError("this kernel has no Landlock, or no seccomp")
    _restrict_files(version)
    _drop_capabilities()
    _restrict_calls()


def probe():
    """What the host asks before it starts workers."""
    return {
        "executable": sys.executable,
        "version": list(sys.version_info[:3]),
        "landlock": landlock_version(),
        "seccomp": _has_seccomp(),
    }
