internal import Glibc

/// How much memory this process may take at most: the machine's, or what a container or a service is limited to.
///
/// Read from sysconf(3) and the control groups (cgroups(7), versions 1 and 2). What can't be read limits nothing.
enum MemoryAllowance {
    /// In bytes.
    static func byteCount() -> Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let limits = limitFiles(ownGroups: text("/proc/self/cgroup") ?? "").compactMap { text($0).flatMap(limit) }
        return min(machine > 0 ? machine : .max, limits.min() ?? .max)
    }

    /// Where the limits of a process in these groups stand, from the group itself up to the root: in a container the
    /// root is its own.
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

    /// The first 4 KiB of a file.
    private static func text(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress!, $0.count) }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
