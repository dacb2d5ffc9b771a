internal import Glibc
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// Shows a secret to the person at the terminal, on a line of its own: an authorization URL that has to be opened on
/// another machine, or a passphrase that is proposed. `SecretPrompt` makes it.
package struct TerminalSecretSink: SecretSink, ~Copyable {
    package static var reason: StaticString { "the person has to carry it to a browser elsewhere, or to remember it" }

    private let device: TerminalDevice

    init(device: consuming TerminalDevice) {
        self.device = device
    }

    /// Writes the bytes. Control characters among them throw `failed`, since they would act on the terminal.
    package mutating func receive(_ bytes: Span<UInt8>) throws(PromptError) {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F {
            throw PromptError(problem: .failed(number: EILSEQ), question: "a line for the person")
        }
        var sink = FileDescriptorSecretSink(descriptor: device.descriptor)
        try mapError(
            { (error: FileDescriptorSecretSink.WriteFailure) in
                PromptError(problem: .failed(number: error.number), question: "a line for the person")
            },
            of: sink.receive(bytes))
        device.write("\n")
    }
}
