internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySecretService

/// What a probe does under load: it saves and reads one key after another, and knows what each may hold.
extension Probe {
    private struct Tally {
        var saved = 0
        var read = 0
        var refused = 0
        /// The first few answers that were wrong.
        var wrong: [String] = []

        mutating func note(_ answer: String) {
            if wrong.count < 5 { wrong.append(answer) }
        }

        var text: String {
            "saved \(saved)\tread \(read)\trefused \(refused)\t"
                + (wrong.isEmpty ? "right" : wrong.joined(separator: "; "))
        }
    }

    /// share NAME COUNT KEYS: saves so many secrets, one key after another, beside other probes that save the same
    /// keys. Each secret names its key.
    func share(_ words: [String]) async throws -> String {
        let (name, count, keys) = (words[1], Int(words[2]) ?? 0, Int(words[3]) ?? 1)
        var tally = Tally()
        for number in 0..<count {
            let account = "u\(number % keys)"
            let key = try CredentialKey(service: "load", account: account)
            try await save("\(account) \(name) \(number)", key)
            tally.saved += 1
            guard let text = try await text(of: key) else {
                tally.note("nothing under \(account)")
                continue
            }
            tally.read += 1
            if !text.hasPrefix(account + " ") { tally.note("\(text) under \(account)") }
        }
        return tally.text
    }

    /// own NAME COUNT: saves numbers under a key of its own and reads them back, while the service dies and comes back.
    ///
    /// A refusal is right. What is read must be the last number whose save returned, or one that was sent after it.
    func own(_ words: [String]) async throws -> String {
        let key = try CredentialKey(service: "load", account: words[1])
        let count = Int(words[2]) ?? 0
        var tally = Tally()
        var acknowledged = -1
        for number in 0..<count {
            if Task.isCancelled { break }
            do throws(StoreError) {
                try await save("\(number)", key)
                acknowledged = number
                tally.saved += 1
            } catch {
                tally.refused += 1
            }
            do throws(StoreError) {
                guard let text = try await text(of: key) else {
                    if acknowledged >= 0 { tally.note("nothing after \(acknowledged)") }
                    continue
                }
                tally.read += 1
                if !(acknowledged...number).contains(Int(text) ?? -1) {
                    tally.note("\(text) after \(acknowledged), before \(number)")
                }
            } catch {
                tally.refused += 1
            }
        }
        return tally.text
    }

    private var deadline: Deadline { .after(timeout) }

    private func save(_ text: String, _ key: CredentialKey) async throws(StoreError) {
        let secret = Secret<Password>(copying: Array(text.utf8).span)
        _ = try await store.save(secret, for: key, options: SaveOptions(), deadline: deadline)
    }

    private func text(of key: CredentialKey) async throws(StoreError) -> String? {
        guard let record = try await store.read(key, as: Password.self, deadline: deadline) else { return nil }
        return record.secret.withExposedBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }
}
