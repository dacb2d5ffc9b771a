internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
@testable import LatchkeyKeyringService
internal import Testing

struct BusFaultTests {
    /// Clients go by the names; each code of a store has one.
    private static let names: [StoreError.Code: String] = [
        .unavailable: "org.freedesktop.DBus.Error.Failed",
        .locked: "org.freedesktop.Secret.Error.IsLocked",
        .promptDismissed: "org.freedesktop.Secret.Error.IsLocked",
        .wrongKey: "org.freedesktop.Secret.Error.IsLocked",
        .timedOut: "org.freedesktop.DBus.Error.Timeout",
        .busy: "org.freedesktop.DBus.Error.Timeout",
        .cancelled: "org.freedesktop.DBus.Error.Failed",
        .permissionDenied: "org.freedesktop.DBus.Error.AccessDenied",
        .corrupted: "org.freedesktop.DBus.Error.IOError",
        .rolledBack: "org.freedesktop.DBus.Error.IOError",
        .cannotWrite: "org.freedesktop.DBus.Error.IOError",
        .tooLarge: "org.freedesktop.DBus.Error.LimitsExceeded",
        .conflict: "org.freedesktop.DBus.Error.Failed",
        .ambiguous: "org.freedesktop.DBus.Error.Failed",
        .unsupported: "org.freedesktop.DBus.Error.NotSupported",
        .protocolViolation: "org.freedesktop.DBus.Error.Failed",
    ]

    @Test(arguments: StoreError.Code.allCases)
    func `each refusal of a store has a name that clients know`(_ code: StoreError.Code) {
        let fault = BusFault(StoreError(code, "a cause", hint: "a hint")) { "\($0.codeName), in our words" }
        #expect(fault.name == Self.names[code])
        #expect(fault.text.hasSuffix(", in our words"))
    }
}
