internal import CTestProcess
internal import Foundation

/// The memory of another process, read from outside by a parent that may.
public enum ProcessMemory {
    /// Where any eight bytes of some secrets stand, in memory that the process can write: for each secret the names of
    /// the mappings, each once, with a piece that is there. Memory that is left out of core dumps, as libsodium's is
    /// (`dd` in proc(5)'s `VmFlags`), is where secrets belong, and isn't searched.
    ///
    /// Eight bytes are what the narrowest register that a copy moves through holds: whoever saves registers on a stack
    /// leaves such pieces, in any order. Pieces with fewer than four different bytes are left out, because they stand
    /// everywhere by chance.
    public static func places(ofPiecesOf secrets: [[UInt8]], in pid: Int32) throws -> [[Place]] {
        let pieces = Pieces(of: secrets)
        let text = try String(kernelFile: "/proc/\(pid)/smaps")
        let memory = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw ServiceFailure.system("open of a process's memory", errno) }
        defer { close(memory) }
        let pages = unsafe open("/proc/\(pid)/pagemap", O_RDONLY | O_CLOEXEC)
        guard pages >= 0 else { throw ServiceFailure.system("open of a process's page map", errno) }
        defer { close(pages) }
        var places = [[Place]](repeating: [], count: secrets.count)
        var byteCount = 0
        var mapping: (name: String, ends: [UInt]) = ("", [])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 {
                let name = words.count > 5 ? words[5].trimmingCharacters(in: .whitespaces) : "anonymous"
                mapping = (name, words[1].hasPrefix("rw") ? ends : [])
            } else if words[0] == "VmFlags:", mapping.ends.count == 2, !line.split(separator: " ").contains("dd") {
                for range in try present(pages, from: Int(mapping.ends[0]), to: Int(mapping.ends[1])) {
                    let content = read(memory, range)
                    byteCount += content.count
                    for (secret, piece) in pieces.found(in: content)
                    where !places[secret].contains(where: { $0.mapping == mapping.name }) {
                        places[secret].append(Place(mapping: mapping.name, piece: piece))
                    }
                }
            }
        }
        guard byteCount > 100_000 else { throw ServiceFailure("a process's memory could not be read") }
        return places
    }

    public struct Place: Equatable, CustomStringConvertible {
        public let mapping: String
        let piece: [UInt8]

        public var description: String { "\(mapping): “\(String(decoding: piece, as: UTF8.self))” \(piece)" }
    }

    /// The parts of a mapping whose pages are in memory or swapped out; of a thread's stack, few are
    /// (proc_pid_pagemap(5)). A shared page that only other processes have used is left out.
    private static func present(_ pages: Int32, from start: Int, to end: Int) throws -> [Range<Int>] {
        let size = sysconf(Int32(_SC_PAGESIZE))
        var entries = [UInt64](repeating: 0, count: (end - start) / size)
        let count = unsafe pread(pages, &entries, entries.count * 8, start / size * 8)
        guard count == entries.count * 8 else { throw ServiceFailure("a process's page map could not be read") }
        var ranges: [Range<Int>] = []
        for (index, entry) in entries.enumerated() where entry >> 62 != 0 {
            let page = start + index * size
            if ranges.last?.upperBound == page {
                ranges[ranges.count - 1] = ranges[ranges.count - 1].lowerBound..<page + size
            } else {
                ranges.append(page..<page + size)
            }
        }
        return ranges
    }

    /// Pages that can't be read, such as guard pages, are left out.
    private static func read(_ memory: Int32, _ range: Range<Int>) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < content.count {
            let count = unsafe content.withUnsafeMutableBytes { content in
                unsafe pread(memory, content.baseAddress! + done, content.count - done, range.lowerBound + done)
            }
            done += count > 0 ? count : 4096 - done % 4096
        }
        return content
    }
}

/// All pieces of eight bytes of some secrets, and whose they are.
private struct Pieces {
    private let sorted: [UInt64]
    private let owners: [UInt64: [Int]]
    private let filter: [UInt8]

    init(of secrets: [[UInt8]]) {
        var owners: [UInt64: [Int]] = [:]
        for (number, secret) in secrets.enumerated() {
            for start in 0..<max(0, secret.count - 7) {
                let bytes = secret[start..<start + 8]
                guard Set(bytes).count >= 4 else { continue }
                // As the processor reads them from memory.
                let piece = UInt64(littleEndian: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
                if owners[piece]?.contains(number) != true { owners[piece, default: []].append(number) }
            }
        }
        var filter = [UInt8](repeating: 0, count: 8192)
        for piece in owners.keys {
            let hash = latchkey_piece_hash(piece)
            filter[Int(hash >> 3)] |= 1 << (hash & 7)
        }
        self.owners = owners
        self.filter = filter
        sorted = owners.keys.sorted()
    }

    func found(in content: [UInt8]) -> [(secret: Int, piece: [UInt8])] {
        var numbers = [Int](repeating: 0, count: 4096)
        let count = unsafe latchkey_find_pieces(
            content, content.count, sorted, sorted.count, filter, &numbers, numbers.count)
        return Set(numbers.prefix(count)).flatMap { number in
            let piece = unsafe withUnsafeBytes(of: sorted[number]) { unsafe Array($0) }
            return owners[sorted[number]]!.map { ($0, piece) }
        }
    }
}
