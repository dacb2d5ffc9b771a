internal import CTestProcess
internal import Foundation

/// The memory of another process, read from outside by a parent that may.
public enum ProcessMemory {
    /// Where some bytes stand in memory that the process can write: the names of the mappings, one for each copy;
    /// `guarded` for memory that is left out of core dumps, as libsodium's is (`dd` in proc(5)'s `VmFlags`).
    public static func places(of needle: [UInt8], in pid: Int32) throws -> [String] {
        try places(ofEach: [needle], in: pid)[0]
    }

    /// The same for several, in one reading of the memory.
    public static func places(ofEach needles: [[UInt8]], in pid: Int32) throws -> [[String]] {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(pid)/smaps"))
        let text = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
        let memory = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw ServiceFailure.system("open of a process's memory", errno) }
        defer { close(memory) }
        var places = [[String]](repeating: [], count: needles.count)
        var byteCount = 0
        var found: (name: String, counts: [Int]) = ("", [])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if words[0] == "VmFlags:" {
                let isGuarded = line.split(separator: " ").contains("dd")
                for (index, count) in found.counts.enumerated() {
                    places[index] += Array(repeating: isGuarded ? "guarded" : found.name, count: count)
                }
                found = ("", [])
            } else if ends.count == 2, words[1].hasPrefix("rw") {
                let content = read(memory, from: ends[0], to: ends[1])
                byteCount += content.count
                let name = words.count > 5 ? words[5].trimmingCharacters(in: .whitespaces) : "anonymous"
                found = (name, needles.map { copies(of: $0, in: content) })
            }
        }
        guard byteCount > 100_000 else { throw ServiceFailure("a process's memory could not be read") }
        return places
    }

    /// Pages that can't be read, such as guard pages, are left out.
    private static func read(_ memory: Int32, from start: UInt, to end: UInt) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: Int(end - start))
        var done = 0
        while done < content.count {
            let count = unsafe content.withUnsafeMutableBytes { content in
                unsafe pread(memory, content.baseAddress! + done, content.count - done, off_t(Int(start) + done))
            }
            done += count > 0 ? count : 4096 - done % 4096
        }
        return content
    }

    private static func copies(of needle: [UInt8], in content: [UInt8]) -> Int {
        unsafe content.withUnsafeBytes { content in
            var count = 0
            var rest = unsafe content[...]
            while unsafe !rest.isEmpty,
                let found = unsafe memmem(
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress!, rest.count, needle, needle.count)
            {
                count += 1
                let offset = unsafe UnsafeRawPointer(found) - content.baseAddress!
                unsafe rest = content[(offset + needle.count)...]
            }
            return count
        }
    }
}
