"""The kernel's keyring as tests need it: `probe` ends with 0 where the kernel allows it; `refuse ERRNO PROGRAM …` runs a
program for which add_key(2), request_key(2) and keyctl(2) fail with ERRNO, as container managers arrange it (seccomp(2));
`session PROGRAM …` runs one with a new session keyring, in which the user's keyring is not linked."""
import ctypes, errno, os, platform, struct, sys

ADD_KEY, REQUEST_KEY, KEYCTL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)


def refuse(number):
    load, equal, answer, allow = 0x20, 0x15, 0x00050000 | number, 0x7FFF0000
    calls = (ADD_KEY, REQUEST_KEY, KEYCTL)
    filters = [(load, 0, 0, 0)]  # the number of the call
    filters += [(equal, len(calls) - index, 0, call) for index, call in enumerate(calls)]
    filters += [(0x06, 0, 0, allow), (0x06, 0, 0, answer)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in filters))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(filters), ctypes.addressof(code)))
    for arguments in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)):  # no new privileges; the filter
        if libc.prctl(*(ctypes.c_ulong(value) for value in arguments)) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if sys.argv[1] == "probe":
    sys.exit(0 if libc.syscall(KEYCTL, 0, -4, 1) >= 0 else 1)  # KEYCTL_GET_KEYRING_ID of the user's keyring
if sys.argv[1] == "session":
    if libc.syscall(KEYCTL, 1, None) < 0:  # KEYCTL_JOIN_SESSION_KEYRING
        sys.exit(f"keyctl: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[2], sys.argv[2:])
refuse(getattr(errno, sys.argv[2]))
os.execvp(sys.argv[3], sys.argv[3:])
