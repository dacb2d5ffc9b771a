internal import Glibc
internal import LatchkeyLog
package import LatchkeyProcess
package import LatchkeySecrets

/// Writes a secret on a line of its own to standard error, for a person who reads it there.
struct StandardErrorSecretSink: SecretSink {
    static var reason: StaticString { "no terminal to show the code that you enter on another device" }

    let descriptor: Int32

    /// Control characters are refused: where the stream is shown they would act.
    mutating func receive(_ bytes: Span<UInt8>) throws(CommandFailure) {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F {
            throw CommandFailure.cannotWriteOutput(EILSEQ)
        }
        var sink = FileDescriptorSecretSink(descriptor: descriptor)
        try mapError(
            { (error: FileDescriptorSecretSink.WriteFailure) in CommandFailure.cannotWriteOutput(error.number) },
            of: sink.receive(bytes))
        _ = PipeSafeWrite.write("\n", to: descriptor)
    }
}

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

extension CommandOption {
    /// For commands that write text from other programs or people.
    package static let raw = flag("--raw", help: "write control characters to a terminal unchanged (default: escaped)")
}

extension Secret where Purpose: SecretPurpose {
    /// The text with what a terminal obeys escaped as `\u{1b}`: control characters (C0 but tab and line feed, DEL, C1) and
    /// direction controls. Octets that aren't UTF-8 become `\x{9b}`. Returns `nil` where nothing is to be escaped.
    package func escapedForTerminal() -> Secret<Purpose>? {
        withExposedBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes -> Secret<Purpose>? in
                var text = SecretBuilder()
                var (isEscaped, start) = (false, 0)
                var octets = unsafe bytes.makeIterator()
                var parser = Unicode.UTF8.ForwardParser()
                while true {
                    switch unsafe parser.parseScalar(from: &octets) {
                    case .emptyInput: return isEscaped ? text.finish(as: Purpose.self) : nil
                    case .error(let length):
                        for index in start..<(start + length) {
                            let octet = unsafe bytes[index]
                            try? text.append(publicText: "\\x{" + String(octet, radix: 16) + "}")
                        }
                        isEscaped = true
                        start += length
                    case .valid(let encoded):
                        let scalar = Unicode.UTF8.decode(encoded).value
                        if Self.isObeyed(scalar) {
                            try? text.append(publicText: "\\u{" + String(scalar, radix: 16) + "}")
                            isEscaped = true
                        } else {
                            for octet in encoded { try? text.append(octet) }
                        }
                        start += encoded.count
                    }
                }
            }
        }
    }

    private static func isObeyed(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09, 0x0A: false
        case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
