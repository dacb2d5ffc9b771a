internal import Foundation

/// The executables that were built together with the tests.
public enum BuiltProducts {
    /// The folder that holds the test bundle, and so the executables: found from the loaded image, because the
    /// running program is the bundle itself or the toolchain's test helper that loaded it.
    public static func folder() throws -> String {
        let address = UInt(bitPattern: #dsohandle)
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        for line in maps.split(separator: "\n") {
            // address range, mode, offset, device, inode, path
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let range = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count == 6, range.count == 2, range[0] <= address, address < range[1] else { continue }
            let image = fields[5].trimmingCharacters(in: .whitespaces)
            return URL(fileURLWithPath: image).deletingLastPathComponent().path
        }
        // With a sanitizer the image's data is mapped anew, without a name; the program is the bundle then.
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }

    public static func program(_ name: String) throws -> Program {
        let path = try folder() + "/" + name
        guard unsafe access(path, X_OK) == 0 else {
            throw ServiceFailure("`\(name)` is not built beside the tests: run `swift build` first (\(path))")
        }
        return try Program(path)
    }

    public static func latchkey() throws -> Program { try program("latchkey") }
}
