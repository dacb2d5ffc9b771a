internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog

/// How much work one try of a passphrase takes (Argon2id, RFC 9106, one lane).
public struct PassphraseCost: Sendable, Hashable {
    /// In bytes.
    package let memoryByteCount: Int
    package let passes: Int

    /// The limit for the cost in a vault's file: 1 GiB and 16 passes. Otherwise an attacker's file could stop the
    /// machine.
    package static let maximumMemoryByteCount = 1 << 30
    package static let maximumPasses = 16

    init(known memoryByteCount: Int, passes: Int) {
        self.memoryByteCount = memoryByteCount
        self.passes = passes
    }

    /// Takes 8 MiB to 1 GiB, in whole KiB, and 1 to 16 passes; throws `unsupported` for anything else.
    package init(memoryByteCount: Int, passes: Int) throws(StoreError) {
        guard (8 << 20...Self.maximumMemoryByteCount).contains(memoryByteCount), memoryByteCount % 1024 == 0,
            (1...Self.maximumPasses).contains(passes)
        else {
            throw StoreError(
                .unsupported, "a passphrase can't cost \(memoryByteCount) bytes and \(passes) passes",
                hint: "use 8 MiB to 1 GiB and 1 to 16 passes")
        }
        self.init(known: memoryByteCount, passes: passes)
    }

    /// The cost in a file, or `nil` outside the limits. A lower cost than that of new files is valid.
    init?(stored memoryByteCount: UInt64, passes: UInt32) {
        guard (8192...UInt64(Self.maximumMemoryByteCount)).contains(memoryByteCount), memoryByteCount % 1024 == 0,
            (1...UInt32(Self.maximumPasses)).contains(passes)
        else { return nil }
        self.init(known: Int(memoryByteCount), passes: Int(passes))
    }
}

// MARK: - Calibration

extension PassphraseCost {
    /// How long one try is to take on the machine that makes the slot: nothing beside typing, and much for a guesser.
    static let aim = Duration.milliseconds(750)

    /// The least that a calibrated cost is, however slow or small the machine: 64 MiB and 3 passes (as much memory and
    /// as many passes as RFC 9106 section 4 recommends where memory is short).
    public static let least = PassphraseCost(known: 64 << 20, passes: 3)

    /// The most memory that a calibrated cost takes: the vault may be opened on a smaller machine one day.
    private static let largestMemoryByteCount = 256 << 20

    /// Returns the cost of one try for this machine: as many passes as fit into about 0.75 s, 3 to 16, over 256 MiB.
    ///
    /// The memory is less, 64 MiB at least, if three passes take more than 1.5 s, or if 256 MiB are more than a quarter
    /// of the memory of the machine, its container or service. The measurement takes one pass, some tenths of a second,
    /// on the calling thread.
    package static func calibrated() -> PassphraseCost {
        calibrated(allowance: MemoryAllowance.byteCount(), timeOfPass: time(ofPassOver:))
    }

    /// - Parameters:
    ///   - allowance: how much memory there is, in bytes.
    ///   - timeOfPass: how long a pass over so many bytes takes; `nil` when that memory can't be had.
    static func calibrated(allowance: Int, timeOfPass: (_ memoryByteCount: Int) -> Duration?) -> PassphraseCost {
        var memory = largestMemoryByteCount
        while memory > least.memoryByteCount {
            if memory <= allowance / 4, let time = timeOfPass(memory), time * least.passes <= aim * 2 {
                return PassphraseCost(known: memory, passes: passes(of: time))
            }
            memory /= 2
        }
        guard let time = timeOfPass(memory) else { return least }
        return PassphraseCost(known: memory, passes: passes(of: time))
    }

    private static func passes(of time: Duration) -> Int {
        guard time > .zero else { return maximumPasses }
        // Bounded before it becomes an integer.
        return Int(min(max(aim / time, Double(least.passes)), Double(maximumPasses)))
    }

    /// A single pass pays for mapping the memory in, so that several take a little less than as many times as long.
    private static func time(ofPassOver memoryByteCount: Int) -> Duration? {
        let nothing: [UInt8] = []
        let salt = [UInt8](repeating: 0, count: Argon2id.saltByteCount)
        var out = [UInt8](repeating: 0, count: 32)
        var isDerived = false
        let time = ContinuousClock().measure {
            var span = out.mutableSpan
            isDerived = Argon2id.derive(
                passphrase: nothing.span, salt: salt.span, passes: 1, memoryByteCount: memoryByteCount, into: &span)
        }
        return isDerived ? time : nil
    }
}

/// The memory limit of this process: the machine's memory, or the limit of a container or a service.
///
/// Read from sysconf(3) and the control groups (cgroups(7), versions 1 and 2). An unreadable limit is ignored.
enum MemoryAllowance {
    /// In bytes.
    static func byteCount() -> Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let limits = limitFiles(ownGroups: text("/proc/self/cgroup") ?? "").compactMap { text($0).flatMap(limit) }
        return min(machine > 0 ? machine : .max, limits.min() ?? .max)
    }

    /// The files with the limits of a process in these groups, from the group itself up to the root. A container has
    /// its own root.
    static func limitFiles(ownGroups: String) -> [String] {
        var files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        for line in ownGroups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let (folder, file): (String, String)
            switch fields[1] {
            case "": (folder, file) = ("/sys/fs/cgroup", "memory.max")
            case "memory": (folder, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            default: continue
            }
            // A group outside of this container's (cgroup_namespaces(7)) is not under its folder.
            if fields[2].hasPrefix("/..") { continue }
            var path = folder
            for part in fields[2].split(separator: "/").prefix(32) {
                path += "/\(part)"
                files.append("\(path)/\(file)")
            }
        }
        return files
    }

    /// A limit as such a file has it; `nil` for `max`.
    static func limit(_ text: String) -> Int? { Int(text.prefix { !$0.isWhitespace }) }

    /// A file's text; `nil` for a file that is larger than any of these is.
    private static func text(_ path: String) -> String? {
        (try? PrivateFile.read(path, limit: 64 << 10)).map { String(decoding: $0, as: UTF8.self) }
    }
}
