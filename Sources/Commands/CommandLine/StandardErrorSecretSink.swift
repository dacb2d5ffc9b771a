internal import Glibc
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// Writes a secret on a line of its own to standard error, for a person who reads it there.
struct StandardErrorSecretSink: SecretSink {
    static var reason: StaticString { "the person has to enter the code on another device, and there is no terminal" }

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
