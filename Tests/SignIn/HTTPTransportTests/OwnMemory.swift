import Glibc

/// Looks for bytes in all memory of this process that can be written: heap, stacks, guarded memory.
enum OwnMemory {
    /// Where 16 bytes in the middle of a text are found, by the mapping's name.
    ///
    /// - Parameter masked: the bytes, each exclusive-or 0x55, so that the question is not its own answer.
    static func places(ofMasked masked: [UInt8]) -> [String] {
        let chunk = 1 << 20
        // A mapping of its own, which is left out because it holds copies of everything. A private one would be merged
        // with its neighbours.
        let buffer = unsafe mmap(nil, chunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
        defer { unsafe munmap(buffer, chunk) }
        let own = UInt(bitPattern: buffer)
        let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        var places: [String] = []
        for mapping in mappings() where !(mapping.start...mapping.end).contains(own) {
            var position = mapping.start
            while position < mapping.end {
                let count = unsafe pread(memory, buffer, min(chunk, Int(mapping.end - position)), Int(position))
                guard count > 0 else { break }
                let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: count)
                if unsafe contains(bytes, masked) { places.append(mapping.name) }
                position += UInt(count)
                // The pieces overlap, so that nothing hides at their ends.
                if position < mapping.end, count > masked.count { position -= UInt(masked.count) }
            }
        }
        return places
    }

    private struct Mapping {
        let start: UInt
        let end: UInt
        let name: String
    }

    private static func mappings() -> [Mapping] {
        let file = unsafe open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(file, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return Mapping(start: ends[0], end: ends[1], name: words.count > 5 ? String(words[5]) : "anonymous")
        }
    }

    @unsafe private static func contains(_ bytes: UnsafeRawBufferPointer, _ masked: [UInt8]) -> Bool {
        guard bytes.count >= masked.count else { return false }
        let first = masked[0] ^ 0x55
        var index = 0
        let last = bytes.count - masked.count
        while index <= last {
            guard let found = unsafe memchr(bytes.baseAddress! + index, Int32(first), last - index + 1) else {
                return false
            }
            index = unsafe UnsafeRawPointer(found) - bytes.baseAddress!
            if masked.indices.allSatisfy({ unsafe bytes[index + $0] == masked[$0] ^ 0x55 }) { return true }
            index += 1
        }
        return false
    }
}
