import LatchkeyCredentials
import LatchkeyCommands
import LatchkeySecrets

/// What suites about tools' files ask of a reader.
protocol ToolFileSuite {}

extension ToolFileSuite {
    /// `SERVICE ACCOUNT SECRET` of each entry.
    func entries(_ read: CredentialImport) async throws -> [String] {
        var entries: [String] = []
        for entry in try await read.store.list().all() {
            guard let record = try await read.store.read(entry.key, as: Password.self) else { continue }
            let text = record.secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
            entries.append("\(entry.key.service) \(entry.key.account) \(String(decoding: text, as: UTF8.self))")
        }
        return entries.sorted()
    }

    func empty(_ read: CredentialImport) async throws {
        for file in read.files { try await file.empty() }
    }

    func problem(_ body: () async throws -> Void) async -> ImportError.Problem? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ImportError)?.problem
        }
    }
}
