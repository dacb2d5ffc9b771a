import Glibc
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyVault

// What work on a vault takes of the process: memory at its peak, and bytes read and written by system calls.

/// A number after a name in a file of proc(5).
private func number(after name: String, in file: String) -> Int {
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return -1 }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    for line in String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    where line.hasPrefix(name + ":") {
        return Int(line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace).first ?? "") ?? -1
    }
    return -1
}

/// Says how much was read and written since it was last called.
struct Traffic {
    private var read = number(after: "rchar", in: "/proc/self/io")
    private var written = number(after: "wchar", in: "/proc/self/io")

    mutating func tell(_ what: String) {
        let before = self
        self = Traffic()
        say("\(what) \(read - before.read) \(written - before.written)")
    }
}

func sayPeak() { say("peak \(number(after: "VmHWM", in: "/proc/self/status"))") }

/// Adds accounts from 0 on, ten thousand in a transaction.
func fill(_ store: VaultStore, _ count: Int, secretByteCount: Int) async throws {
    let secret = try Secret<Password>.random(byteCount: secretByteCount)
    for first in stride(from: 0, to: count, by: 10_000) {
        let keys = try (first..<min(count, first + 10_000)).map {
            try CredentialKey(service: "example.org", account: "\($0)")
        }
        try await store.fill(keys, with: secret, deadline: .after(.seconds(600)))
    }
}

/// Opens the vault again, reads an account, finds another one missing, and saves the first.
func touch(_ store: VaultStore, _ account: String) async throws {
    let arguments = CommandLine.arguments
    let key = try CredentialKey(service: "example.org", account: account)
    let missing = try CredentialKey(service: "example.org", account: "no " + account)
    var traffic = Traffic()
    let store = try await VaultStore.open(at: arguments[2], unlockedBy: .keyFile(arguments[3]))
    traffic.tell("opened")
    guard try await store.read(key, as: Password.self) != nil else { exit(1) }
    traffic.tell("read")
    guard try await store.read(missing, as: Password.self) == nil else { exit(1) }
    traffic.tell("missed")
    try await store.save(secret("new"), for: key)
    traffic.tell("saved")
    try await store.save(secret("new"), for: missing)
    traffic.tell("added")
    try await store.delete(missing)
    traffic.tell("deleted")
}

/// Does something with all of the vault, and says how many items there were and what memory it took at most.
func all(_ store: VaultStore, _ job: String, keyFile: String) async throws {
    let path = CommandLine.arguments[2]
    let deadline = Deadline.after(.seconds(3600))
    var count = 0
    switch job {
    case "list": for try await _ in store.list(deadline: deadline) { count += 1 }
    case "search": for try await _ in store.list(service: "example.com", deadline: deadline) { count += 1 }
    case "verify":
        let report = try await store.verify(deadline: deadline)
        guard report.isSound else { exit(1) }
        count = report.itemCount
    case "rekey": count = try await store.rekey(deadline: deadline)
    case "export":
        let key = VaultKeySource.keyFile(keyFile)
        count = try await store.export(to: path + "-export", unlockedBy: key, deadline: deadline).itemCount
    case "import":
        let other = try await VaultStore.open(at: path + "-export", unlockedBy: .keyFile(keyFile))
        let target =
            unsafe access(path + "-import", F_OK) == 0
            ? try await VaultStore.open(at: path + "-import", unlockedBy: .keyFile(keyFile))
            : try await VaultStore.create(at: path + "-import", unlockedBy: .keyFile(keyFile))
        say("importing")
        count = try await target.importAll(from: other, onConflict: .refuse, deadline: deadline).addedCount
    default: exit(64)
    }
    say("items \(count)")
    sayPeak()
}
