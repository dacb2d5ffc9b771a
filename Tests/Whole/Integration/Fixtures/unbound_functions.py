"""Prints the functions of a process that will only be bound when they are first called, one a line.

Their slots (R_*_JUMP_SLOT, elf(5)) still lead into the object's own procedure linkage table. What no loaded object
defines is left out: it is weak, and nobody can call it.
"""
import struct
import sys


def objects(pid):
    """The start of each object's first mapping, by path."""
    first = {}
    for line in open(f"/proc/{pid}/maps"):
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith("/") and words[2] == "00000000":
            first.setdefault(words[5].strip(), int(words[0].split("-")[0], 16))
    return first


def sections(elf):
    start, size, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", elf, start + size * index) for index in range(count)]
    text = rows[names][4]
    return {elf[text + row[0] : elf.index(b"\0", text + row[0])].decode(): row for row in rows}


def symbol(elf, found, number):
    """A dynamic symbol's name, and whether it is defined there."""
    at = found[".dynsym"][4] + 24 * number
    name = found[".dynstr"][4] + struct.unpack_from("<I", elf, at)[0]
    return elf[name : elf.index(b"\0", name)].decode(), struct.unpack_from("<H", elf, at + 6)[0] != 0


def main(pid):
    memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
    unbound, defined, slots = [], set(), 0
    for path, base in objects(pid).items():
        elf = open(path, "rb").read()
        if elf[:6] != b"\x7fELF\x02\x01":
            continue
        found = sections(elf)
        for number in range(found[".dynsym"][5] // 24):
            name, is_defined = symbol(elf, found, number)
            if is_defined:
                defined.add(name)
        if ".rela.plt" not in found or ".plt" not in found:
            continue
        relocations, stub = found[".rela.plt"], found[".plt"]
        for offset in range(relocations[4], relocations[4] + relocations[5], 24):
            place, info, _ = struct.unpack_from("<QQq", elf, offset)
            if info & 0xFFFFFFFF not in (7, 1026):  # R_X86_64_JUMP_SLOT, R_AARCH64_JUMP_SLOT
                continue
            slots += 1
            memory.seek(base + place)
            target = struct.unpack("<Q", memory.read(8))[0] - base
            if stub[3] <= target < stub[3] + stub[5]:
                unbound.append((path, symbol(elf, found, info >> 32)[0]))
    for path, name in unbound:
        if name in defined:
            print(path, name)
    print(f"of {slots}", file=sys.stderr)


main(sys.argv[1])
