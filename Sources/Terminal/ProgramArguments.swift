/// The arguments of this process as the kernel handed them over.
package enum ProgramArguments {
    /// The bytes of each argument, the program's name left out. `CommandLine.arguments` repairs invalid UTF-8.
    package static func current() -> [[UInt8]] {
        let count = Int(CommandLine.argc)
        guard count > 1 else { return [] }
        return (1..<count).compactMap { index in
            guard let text = unsafe CommandLine.unsafeArgv[index] else { return nil }
            var bytes: [UInt8] = []
            var offset = 0
            while true {
                let byte = unsafe UInt8(bitPattern: text[offset])
                if byte == 0 { return bytes }
                bytes.append(byte)
                offset += 1
            }
        }
    }
}
