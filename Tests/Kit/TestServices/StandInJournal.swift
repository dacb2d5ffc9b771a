internal import CTestProcess
internal import Foundation

/// A socket that speaks the journal's native protocol as its documentation describes it ("Native Journal Protocol"), so
/// that no journal has to run: it keeps each entry, field by field.
public final class StandInJournal: Sendable {
    public struct Entry: Sendable {
        /// In the order they came.
        public let fields: [(name: String, value: [UInt8])]
        /// As it came.
        public let native: [UInt8]
        /// Whether it came as a file in memory rather than in the datagram.
        public let isFile: Bool

        public subscript(_ name: String) -> String? {
            fields.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }

        /// All of it, as one text to search in.
        public var bytes: [UInt8] {
            fields.flatMap { (name, value) -> [UInt8] in [Array(name.utf8), [0x3D], value, [0x0A]].flatMap(\.self) }
        }
    }

    /// What came was no entry.
    public struct Malformed: Error {
        public let reason: String
    }

    public let path: String
    private let descriptor: Int32

    public init(at path: String) throws {
        self.path = path
        descriptor = unsafe latchkey_listen_for_datagrams(path)
        guard descriptor >= 0 else { throw ServiceFailure.system("bind", errno) }
    }

    deinit {
        close(descriptor)
        unsafe unlink(path)
    }

    /// Takes all that has come so far.
    public func take() throws -> [Entry] {
        var entries: [Entry] = []
        var room = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            var attached: Int32 = -1
            let count = unsafe latchkey_take_datagram(descriptor, &room, room.count, &attached)
            if count < 0 && errno == EINTR { continue }
            if count < 0 {
                guard errno == EAGAIN else { throw ServiceFailure.system("recvmsg", errno) }
                return entries
            }
            if attached >= 0 {
                defer { close(attached) }
                guard count == 0 else { throw Malformed(reason: "a file and text beside it") }
                entries.append(try Self.entry(try Self.sealedFile(attached), isFile: true))
            } else {
                entries.append(try Self.entry(Array(room[..<count]), isFile: false))
            }
        }
    }

    /// The journal takes a file only when nobody can change it any more.
    private static func sealedFile(_ descriptor: Int32) throws -> [UInt8] {
        // F_GET_SEALS; seal, shrink, grow, write.
        guard fcntl(descriptor, 1034) == 15 else { throw Malformed(reason: "the file is not sealed") }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw ServiceFailure.system("lseek", errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return Array(try file.readToEnd() ?? Data())
    }

    private static func entry(_ bytes: [UInt8], isFile: Bool) throws -> Entry {
        var fields: [(name: String, value: [UInt8])] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(where: { $0 == 0x3D || $0 == 0x0A }) else {
                throw Malformed(reason: "a field without a value")
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            guard name.wholeMatch(of: /[A-Z][A-Z0-9_]{0,63}/) != nil else { throw Malformed(reason: "name \(name)") }
            let value: ArraySlice<UInt8>
            if rest[end] == 0x3D {
                guard let close = rest[end...].firstIndex(of: 0x0A) else { throw Malformed(reason: "no line break") }
                value = rest[(end + 1)..<close]
            } else {
                let start = end + 9
                guard start <= rest.endIndex else { throw Malformed(reason: "no length") }
                let length = rest[(end + 1)..<start].reversed().reduce(0) { $0 << 8 | Int($1) }
                guard length < rest.endIndex - start else { throw Malformed(reason: "a length past the end") }
                value = rest[start..<(start + length)]
                guard rest[start + length] == 0x0A else { throw Malformed(reason: "no line break after a value") }
            }
            fields.append((name, Array(value)))
            rest = rest[(value.endIndex + 1)...]
        }
        return Entry(fields: fields, native: bytes, isFile: isFile)
    }
}

// MARK: - A journal file

extension StandInJournal {
    /// Writes entries into a journal file with systemd's own program, which takes the same form ("Journal Export
    /// Formats"), for `journalctl --file`. No journal has to run.
    public static func write(_ entries: [Entry], to path: String) async throws {
        var export: [UInt8] = []
        for (number, entry) in entries.enumerated() {
            let head = """
                __REALTIME_TIMESTAMP=\(1_700_000_000_000_000 + number)
                __MONOTONIC_TIMESTAMP=\(number + 1)
                _BOOT_ID=0123456789abcdef0123456789abcdef

                """
            export += Array(head.utf8) + entry.native + [0x0A]
        }
        let written = try await Program("/lib/systemd/systemd-journal-remote").run(
            ["--output=" + path, "-"], input: export
        ).successful("systemd-journal-remote")
        guard written.errorText.contains("Finishing after writing \(entries.count) entries") else {
            throw ServiceFailure("systemd-journal-remote did not take every entry: \(written.errorText)")
        }
    }
}
