internal import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

/// Puts a secret into the clipboard of the terminal's own machine, by a control sequence that the terminal takes for
/// itself (OSC 52, "Manipulate Selection Data" in xterm's ctlseqs). The bytes are base64 then, and appear nowhere.
struct TerminalClipboardSink: SecretSink, ~Copyable {
    static var reason: StaticString { "the person asked for it in the terminal's clipboard" }

    private let device: TerminalDevice

    init(device: consuming TerminalDevice) {
        self.device = device
    }

    mutating func receive(_ bytes: Span<UInt8>) throws(PromptError) {
        device.write("\u{1B}]52;c;")
        var sink = FileDescriptorSecretSink(descriptor: device.descriptor)
        try mapError(
            { (error: FileDescriptorSecretSink.WriteFailure) in
                PromptError(problem: .failed(number: error.number), question: "the terminal's clipboard")
            },
            of: sink.receive(bytes))
        device.write("\u{7}")
    }
}

extension SecretPrompt {
    /// Puts a secret into the terminal's clipboard. Whether the terminal does it, it doesn't say.
    package func copyToTerminal<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) throws(PromptError) {
        let encoded = secret.base64Encoded()
        var sink = TerminalClipboardSink(device: try device(for: "the terminal's clipboard"))
        try encoded.pour(into: &sink)
    }

    /// Empties the terminal's clipboard.
    package func clearTerminalClipboard() throws(PromptError) {
        try device(for: "the terminal's clipboard").write("\u{1B}]52;c;\u{7}")
    }

    private func device(for question: LogMessage) throws(PromptError) -> TerminalDevice {
        guard isAllowed else { throw PromptError(problem: .forbidden, question: question) }
        return try TerminalDevice(path: path, question: question)
    }
}
