public import Foundation

/// Where the files lie that tests read.
///
/// Beside the source that asks, unless `LATCHKEY_TEST_DATA` names a copy of the folder `Tests`: Tests/unprivileged
/// makes one, because the checkout may be out of an ordinary user's reach.
public enum TestData {
    /// The folder `Tests`: the checkout's, or the copy.
    public static let tests: URL = {
        var folder = Self.folder()
        while folder.lastPathComponent != "Kit" { folder.deleteLastPathComponent() }
        return folder.deletingLastPathComponent()
    }()

    /// The checkout.
    public static var package: URL { tests.deletingLastPathComponent() }

    /// - Parameter source: the file that asks, in the folder `Tests` of the checkout.
    public static func folder(beside source: String = #filePath) -> URL {
        let folder = URL(fileURLWithPath: source).deletingLastPathComponent()
        guard let copy = ProcessInfo.processInfo.environment["LATCHKEY_TEST_DATA"],
            let place = folder.pathComponents.lastIndex(of: "Tests")
        else { return folder }
        return folder.pathComponents[(place + 1)...].reduce(URL(fileURLWithPath: copy)) { (folder, name) in
            folder.appendingPathComponent(name)
        }
    }
}
