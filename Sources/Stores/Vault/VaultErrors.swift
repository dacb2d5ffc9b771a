internal import Credentials
internal import RedactedLog

extension StoreError {
    static func vaultCorrupted(_ what: LogMessage) -> StoreError {
        StoreError(
            .corrupted, "the vault is damaged or was changed by someone without its key: \(what)",
            hint: "run `latchkey vault verify`, and restore a backup")
    }

    static var vaultBusy: StoreError {
        StoreError(
            .timedOut, "another process kept the vault busy until the deadline", hint: "try again, or raise --timeout")
    }

    static func wrongKey(_ cause: LogMessage, hint: LogMessage) -> StoreError {
        StoreError(.wrongKey, cause, hint: hint)
    }
}
