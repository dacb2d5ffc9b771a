internal import LatchkeySecrets

extension Secret where Purpose: SecretPurpose {
    /// Other programs show text as text, and would damage other bytes on the way.
    var isText: Bool { withExposedBytes { (try? UTF8Span(validating: $0)) != nil } }

    var endsWithLineBreak: Bool { withExposedBytes { $0.count > 0 && $0[$0.count - 1] == 0x0A } }
}
