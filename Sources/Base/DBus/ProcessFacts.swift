internal import Glibc
internal import LatchkeySystem

/// What /proc tells of a process, for people to read.
package enum ProcessFacts {
    /// The path of its program; of a process that lets nobody look at it, as gnome-keyring and ours, its name. Of one
    /// that ended it can't be told.
    package static func executable(of processID: UInt32) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(processID)/exe", &target, target.count)
        guard count > 0 else { return name(of: processID) }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The first 15 letters of its program's name (proc(5)).
    package static func name(of processID: UInt32) -> String? {
        let descriptor = unsafe open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// The last part of its control group, such as `app-firefox.scope` (cgroups(7)).
    package static func unit(of processID: UInt32) -> String? {
        let descriptor = unsafe open("/proc/\(processID)/cgroup", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 65536) else { return nil }
        let line = bytes.split(separator: 0x0A).first { $0.starts(with: "0::/".utf8) }
        guard let last = line?.split(separator: 0x2F).last, last.first != 0x30 else { return nil }
        return String(decoding: last, as: UTF8.self)
    }
}
