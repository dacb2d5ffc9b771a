/// The arguments of this process as the kernel handed them over.
package enum ProgramArguments {
    /// The bytes of each argument, the program's name left out. `CommandLine.arguments` repairs invalid UTF-8.
    package static func current() -> [[UInt8]] {
        let count = Int(CommandLine.argc)
        return count > 1 ? (1..<count).compactMap(argument) : []
    }

    /// The last part of the path that the program was started by; empty where it was started without a name.
    package static var programName: [UInt8] {
        let path = CommandLine.argc > 0 ? argument(0) ?? [] : []
        return Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
    }

    private static func argument(_ index: Int) -> [UInt8]? {
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
