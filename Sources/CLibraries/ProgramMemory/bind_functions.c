#define _GNU_SOURCE
#include "program_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#endif

#ifndef JUMP_SLOT
int latchkey_bind_functions(void) { return ENOTSUP; }
#else

// The parts of an object's dynamic section (elf(5)) that lead to its functions.
struct object {
    ElfW(Addr) base;
    const ElfW(Rela) *relocations;
    size_t count;
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Half) *versions;
    const char *needed, *defined;
    int is_bound;
};

// glibc puts addresses there itself, but not in objects whose dynamic section can't be written, such as the kernel's.
static const void *address(const struct object *object, ElfW(Addr) value) {
    return (const void *)(value < object->base ? value + object->base : value);
}

static struct object read_object(ElfW(Addr) base, const ElfW(Dyn) *entry) {
    struct object object = {.base = base};
    for (; entry->d_tag != DT_NULL; entry++) {
        ElfW(Addr) value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_JMPREL: object.relocations = address(&object, value); break;
        case DT_PLTRELSZ: object.count = value / sizeof(ElfW(Rela)); break;
        case DT_SYMTAB: object.symbols = address(&object, value); break;
        case DT_STRTAB: object.strings = address(&object, value); break;
        case DT_VERSYM: object.versions = address(&object, value); break;
        case DT_VERNEED: object.needed = address(&object, value); break;
        case DT_VERDEF: object.defined = address(&object, value); break;
        case DT_BIND_NOW: object.is_bound = 1; break;
        case DT_FLAGS: object.is_bound |= (value & DF_BIND_NOW) != 0; break;
        case DT_FLAGS_1: object.is_bound |= (value & DF_1_NOW) != 0; break;
        }
    }
    return object;
}

// The name of a symbol's version, or NULL when it has none.
static const char *version(const struct object *object, size_t symbol) {
    if (object->versions == NULL) return NULL;
    unsigned number = object->versions[symbol] & 0x7fff;
    if (number < 2) return NULL;
    for (const char *at = object->needed; at != NULL;) {
        const ElfW(Verneed) *need = (const void *)at;
        const char *part = at + need->vn_aux;
        for (unsigned index = 0; index < need->vn_cnt; index++) {
            const ElfW(Vernaux) *one = (const void *)part;
            if (one->vna_other == number) return object->strings + one->vna_name;
            part += one->vna_next;
        }
        at = need->vn_next == 0 ? NULL : at + need->vn_next;
    }
    for (const char *at = object->defined; at != NULL;) {
        const ElfW(Verdef) *definition = (const void *)at;
        const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);
        if (definition->vd_ndx == number) return object->strings + name->vda_name;
        at = definition->vd_next == 0 ? NULL : at + definition->vd_next;
    }
    return NULL;
}

// The memory of the objects that define no versions, such as the program itself and what LD_PRELOAD names.
struct ranges {
    size_t count;
    struct {
        ElfW(Addr) start, end;
    } of[256];
};

static int note_unversioned(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct ranges *ranges = context;
    ElfW(Addr) end = 0;
    const ElfW(Dyn) *dynamic = NULL;
    for (unsigned index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_DYNAMIC) dynamic = (const void *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > end) end = part->p_vaddr + part->p_memsz;
    }
    if (dynamic == NULL || read_object(info->dlpi_addr, dynamic).defined != NULL) return 0;
    if (ranges->count == sizeof ranges->of / sizeof ranges->of[0]) return ENOMEM;
    ranges->of[ranges->count].start = info->dlpi_addr;
    ranges->of[ranges->count++].end = info->dlpi_addr + end;
    return 0;
}

// What ld.so would bind: the first definition in the order of loading that has the wanted version, or that stands in an
// object without versions. dlvsym(3) alone passes over the latter.
static void *definition(const struct object *object, size_t symbol, const struct ranges *unversioned) {
    const char *name = object->strings + object->symbols[symbol].st_name;
    const char *wanted = version(object, symbol);
    void *first = dlsym(RTLD_DEFAULT, name);
    if (wanted == NULL) return first;
    for (size_t index = 0; first != NULL && index < unversioned->count; index++)
        if ((ElfW(Addr))first - unversioned->of[index].start <
            unversioned->of[index].end - unversioned->of[index].start)
            return first;
    return dlvsym(RTLD_DEFAULT, name, wanted);
}

static int bind_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    for (unsigned index = 0; index < info->dlpi_phnum; index++) {
        if (info->dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
        struct object object =
            read_object(info->dlpi_addr, (const void *)(info->dlpi_addr + info->dlpi_phdr[index].p_vaddr));
        if (object.is_bound || object.relocations == NULL || object.symbols == NULL || object.strings == NULL) return 0;
        for (const ElfW(Rela) *one = object.relocations; one < object.relocations + object.count; one++) {
            if (ELF64_R_TYPE(one->r_info) != JUMP_SLOT) continue;
            void *function = definition(&object, ELF64_R_SYM(one->r_info), context);
            void **slot = (void **)(object.base + one->r_offset);
            // One that is missing everywhere is weak: who calls it asks first whether it is there.
            if (function != NULL && *slot != function) *slot = function;
        }
    }
    return 0;
}

int latchkey_bind_functions(void) {
    struct ranges unversioned = {0};
    int number = dl_iterate_phdr(note_unversioned, &unversioned);
    return number != 0 ? number : dl_iterate_phdr(bind_object, &unversioned);
}
#endif
