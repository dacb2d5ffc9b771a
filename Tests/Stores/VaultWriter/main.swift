import Glibc
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyVault

// Another process at a vault, for the tests:
//
//     vault-writer make  VAULT KEYFILE - 0             makes a vault
//     vault-writer save  VAULT KEYFILE PREFIX COUNT    saves PREFIX/0, PREFIX/1 … and says "saved N" after each
//     vault-writer churn VAULT KEYFILE PREFIX COUNT [MS]
//                                                      saves, replaces and deletes PREFIX/0 to PREFIX/6 by turns, two
//                                                      saves and a delete; says "did N" after each step, and rests MS
//                                                      milliseconds, so that others have the processor
//     vault-writer items VAULT KEYFILE PREFIX COUNT    the same with items: creates, replaces and deletes seven of them
//     vault-writer whole VAULT KEYFILE ACCOUNT COUNT [MS]
//                                                      saves one digit over and over, 1 to 60,000 times; rests as above
//     vault-writer rekey VAULT KEYFILE - COUNT         rekeys it, says "rekeyed N" after each time, and pauses
//     vault-writer export VAULT KEYFILE PREFIX COUNT   exports to VAULT-PREFIX-0, VAULT-PREFIX-1 …
//     vault-writer slots VAULT KEYFILE NAME COUNT      adds a slot for KEYFILE.NAME, which it makes; puts others in its
//                                                      place; says "slot N"
//     vault-writer words VAULT KEYFILE NAME MIB        adds a slot for a passphrase, at a low cost; see Words.swift
//     vault-writer open  VAULT KEYFILE - COUNT         opens it COUNT times
//     vault-writer beside VAULT KEYFILE ACCOUNT COUNT  COUNT tasks open it, read once there is a file VAULT-go, and say
//                                                      what they do; "beside" says another one when it has its turn
//     vault-writer count VAULT KEYFILE ACCOUNT COUNT   adds 1 to a number COUNT times by compare-and-set
//     vault-writer fill  VAULT KEYFILE SIZE COUNT      adds accounts 0, 1 … of example.org with secrets of that size
//     vault-writer touch VAULT KEYFILE ACCOUNT -       opens, reads and saves; see Measuring.swift
//     vault-writer all   VAULT KEYFILE JOB COUNT       does something with all of it; see Measuring.swift
//
// VAULT_MEMORY names a directory where it remembers how far it saw the vault.

@discardableResult
func say(_ text: String) -> Bool {
    let bytes = Array((text + "\n").utf8)
    return unsafe write(1, bytes, bytes.count) == bytes.count
}

func secret(_ text: String) -> Secret<Password> {
    let bytes = Array(text.utf8)
    return Secret(copying: bytes.span)
}

func number(_ record: borrowing CredentialRecord<Password>) -> Int {
    record.secret.withExposedBytes { bytes in
        bytes.indices.reduce(0) { $0 * 10 + Int(bytes[$1]) - 0x30 }
    }
}

func work() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 6, let count = Int(arguments[5]) else { exit(64) }
    let rest = arguments.count > 6 ? Int(arguments[6]) ?? 0 : 0
    if arguments[1] == "make" {
        _ = try await VaultStore.create(at: arguments[2], unlockedBy: .keyFile(arguments[3]))
        return
    }
    if arguments[1] == "words" { return try await addWords(count) }
    let memory = unsafe getenv("VAULT_MEMORY").map { unsafe RollbackMemory(directory: String(cString: $0)) }
    @Sendable func open() async throws(StoreError) -> VaultStore {
        try await VaultStore.open(
            at: arguments[2], unlockedBy: .keyFile(arguments[3]), memory: memory, deadline: .after(.seconds(120)))
    }
    if arguments[1] == "beside" { return try await beside(count) { try await open() } }
    let store = try await open()
    say("open")
    if arguments[1] == "fill" { return try await fill(store, count, secretByteCount: Int(arguments[4]) ?? 0) }
    if arguments[1] == "touch" { return try await touch(store, arguments[4]) }
    if arguments[1] == "all" { return try await all(store, arguments[4], keyFile: arguments[3]) }
    func key(_ account: String) throws -> CredentialKey { try CredentialKey(service: "writer", account: account) }
    let deadline = Deadline.after(.seconds(300))
    switch arguments[1] {
    case "save":
        for index in 0..<count {
            try await store.save(
                secret("\(arguments[4]) \(index)"), for: key("\(arguments[4])/\(index)"), options: SaveOptions(),
                deadline: deadline)
            say("saved \(index)")
        }
    case "churn":
        for index in 0..<count {
            let key = try key("\(arguments[4])/\(index % 7)")
            if index % 3 == 2 {
                try await store.delete(key, condition: .none, deadline: deadline)
            } else {
                let padding = String(repeating: "-", count: index * 97 % 6000)
                try await store.save(
                    secret("\(index)\(padding)"), for: key, options: SaveOptions(), deadline: deadline)
            }
            say("did \(index)")
            if rest > 0 { try await Task.sleep(for: .milliseconds(rest)) }
        }
    case "items": try await churnItems(store, arguments[4], count)
    case "whole":
        let key = try key(arguments[4])
        for index in 0..<count {
            let text = String(repeating: "\(index % 10)", count: 1 + index * 977 % 60_000)
            try await store.save(secret(text), for: key, options: SaveOptions(), deadline: deadline)
            if rest > 0 { try await Task.sleep(for: .milliseconds(rest)) }
        }
    case "rekey":
        for index in 0..<count {
            _ = try await store.rekey(deadline: deadline)
            say("rekeyed \(index)")
            // Others have their turn, and a store that is open sees each sixteenth at least (FormerKeys.capacity).
            try await Task.sleep(for: .milliseconds(50))
        }
    case "export":
        for index in 0..<count {
            let path = "\(arguments[2])-\(arguments[4])-\(index)"
            _ = try await store.export(to: path, unlockedBy: .keyFile(arguments[3]), deadline: deadline)
            say("exported \(index)")
        }
    case "slots":
        guard let name = KeySlotName(arguments[4]) else { exit(64) }
        let file = "\(arguments[3]).\(name.text)"
        if unsafe access(file, F_OK) != 0 { try VaultKeyFile.create(at: file) }
        for index in 0..<count {
            // An open store follows sixteen rekeyings, and this process may have no turn for longer: then it opens the
            // vault anew, as the error says.
            for attempt in 1... {
                let opened = try await open()
                do throws(StoreError) {
                    try await opened.addSlot(
                        .keyFile(file), name: name, replacing: index == 0 ? nil : name, deadline: deadline)
                    break
                } catch {
                    guard error.code == .rolledBack, attempt < 5 else { throw error }
                }
            }
            say("slot \(index)")
        }
    case "open":
        for index in 0..<count {
            _ = try await open()
            say("opened \(index)")
        }
    case "count":
        let key = try key(arguments[4])
        var done = 0
        while done < count {
            var condition = WriteCondition.absent
            var value = 0
            if let record = try await store.read(key, as: Password.self, deadline: deadline) {
                condition = .matches(record.version)
                value = number(record)
            }
            do throws(StoreError) {
                try await store.save(
                    secret("\(value + 1)"), for: key, options: SaveOptions(condition: condition), deadline: deadline)
                done += 1
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
    default: exit(64)
    }
}

/// Opens and reads in some tasks, while another one says when it has its turn.
func beside(_ count: Int, _ open: @escaping @Sendable () async throws -> VaultStore) async throws {
    let (vault, key) = (
        CommandLine.arguments[2], try CredentialKey(service: "writer", account: CommandLine.arguments[4])
    )
    let other = Task.detached {
        while !Task.isCancelled {
            say("beside")
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
    try await withThrowingTaskGroup { group in
        for _ in 0..<count {
            group.addTask {
                say("opening")
                let store = try await open()
                say("opened")
                while unsafe access(vault + "-go", F_OK) != 0 { try await Task.sleep(for: .milliseconds(1)) }
                say("reading")
                _ = try await store.read(key, as: Password.self)
                say("read")
            }
        }
        try await group.waitForAll()
    }
    other.cancel()
}

do {
    try await work()
} catch {
    say("\(error)")
    exit(70)
}
