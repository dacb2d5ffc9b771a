import Foundation
import Testing
import TestServices

/// What a writer does to the files of a folder, step by step; see Tests/Stores/CWatchedDisk.
struct WatchedDisk {
    enum Change: Equatable {
        case made
        case written([UInt8], offset: Int)
        case cut(length: Int)
        case synced
        case removed
        /// What the program said meanwhile.
        case said(String)
    }

    struct Step {
        let change: Change
        /// Within the folder; empty for the folder itself.
        let file: String

        var isOnDisk: Bool {
            if case .said = change { return false }
            return true
        }
    }

    let folder: VaultFolder
    /// Not in the folder that is watched.
    private let directory: TestDirectory
    private var log: String { directory / "log" }

    init(folder: VaultFolder) throws {
        self.folder = folder
        directory = try TestDirectory()
    }

    /// Runs the writer and returns what it did, or what it said when the step `fail` fails with an error.
    func run(
        _ mode: String, _ name: String, _ count: Int, failing fail: Int? = nil, error: Int32 = EIO,
        vault: String? = nil, memory: String? = nil
    ) async throws -> (run: ProgramRun, steps: [Step]) {
        var environment = ["DISK_FOLDER": folder.path, "DISK_LOG": log]
        environment["VAULT_MEMORY"] = memory
        if let fail { environment.merge(["DISK_FAIL": "\(fail)", "DISK_ERROR": "\(error)"]) { $1 } }
        defer { try? FileManager.default.removeItem(atPath: log) }
        let run = try await BuiltProducts.program("vault-writer").run(
            [mode, vault ?? folder.vault, folder.keyFile, name, "\(count)"], environment: environment,
            folder: folder.path)
        return (run, try Self.steps([UInt8](try Data(contentsOf: URL(fileURLWithPath: log))), in: folder.path))
    }

    private static func steps(_ log: [UInt8], in folder: String) throws -> [Step] {
        var steps: [Step] = []
        var rest = log[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ", maxSplits: 3)
            try #require(words.count == 4)
            let (count, offset) = (try #require(Int(words[1])), try #require(Int(words[2])))
            let bytes = Array(rest[(end + 1)..<(end + 1 + count)])
            let change: Change =
                switch words[0] {
                case "C": .made
                case "W": .written(bytes, offset: offset)
                case "T": .cut(length: offset)
                case "S": .synced
                case "U": .removed
                default: .said(String(decoding: bytes, as: UTF8.self))
                }
            steps.append(Step(change: change, file: String(words[3].dropFirst(folder.count + 1))))
            rest = rest[(end + 1 + count)...]
        }
        return steps
    }
}

/// What a power failure leaves of files that were being written.
struct PowerLoss {
    /// What is sure to be there, and what was done since the last sync, which may be there or not, each for itself.
    private struct File {
        var durable: [UInt8]?
        var pending: [WatchedDisk.Change] = []
    }

    private var files: [String: File]

    init(_ files: [String: [UInt8]]) {
        self.files = files.mapValues { File(durable: $0) }
    }

    mutating func add(_ step: WatchedDisk.Step) {
        switch step.change {
        case .said: break
        case .synced where step.file.isEmpty:
            // Names are sure to be there now; what is in the files is not.
            for (name, file) in files where file.durable == nil && file.pending.first == .made {
                files[name] = File(durable: [], pending: Array(file.pending.dropFirst()))
            }
        case .synced:
            guard var file = files[step.file] else { return }
            // A new file's name needs a sync of the folder.
            let isNew = file.durable == nil
            var content = file.durable ?? []
            for change in file.pending { Self.apply(change, to: &content) }
            file.durable = isNew ? nil : content
            file.pending = isNew ? [.made, .written(content, offset: 0)] : []
            files[step.file] = file
        default: files[step.file, default: File(durable: nil)].pending.append(step.change)
        }
    }

    /// One of the states that the disk may be in, by chance: of what wasn't synced any part may be missing, and a write
    /// may have got as far as any sector. `nil` for a file that isn't there.
    func state(_ generator: inout some RandomNumberGenerator, keeping share: Double) -> [String: [UInt8]] {
        files.compactMapValues { file in
            var content = file.durable
            if content == nil {
                guard Double.random(in: 0..<1, using: &generator) < share else { return nil }
                content = []
            }
            guard var content else { return nil }
            for change in file.pending where Double.random(in: 0..<1, using: &generator) < share {
                guard case .written(let bytes, let offset) = change else {
                    Self.apply(change, to: &content)
                    continue
                }
                for start in stride(from: 0, to: bytes.count, by: 512)
                where Double.random(in: 0..<1, using: &generator) < max(share, 0.5) {
                    let part = Array(bytes[start..<min(start + 512, bytes.count)])
                    Self.apply(.written(part, offset: offset + start), to: &content)
                }
            }
            return content
        }
    }

    private static func apply(_ change: WatchedDisk.Change, to content: inout [UInt8]) {
        switch change {
        case .written(let bytes, let offset):
            let end = offset + bytes.count
            if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(offset..<end, with: bytes)
        case .cut(let length):
            content = Array(content.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - content.count))
        case .made, .synced, .removed, .said: break
        }
    }
}
