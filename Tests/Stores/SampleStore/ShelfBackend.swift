import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeyStoreSelection

extension StoreBackend {
    /// Everything that the command line needs to know of the store.
    static let shelf = StoreBackend(
        name: "shelf",
        place: StorePlace(
            word: "shelf", placeholder: "FOLDER", variable: "LATCHKEY_SHELF", help: "the shelf's folder",
            noun: "a shelf"),
        exists: { settings in settings.places["shelf"] != nil },
        probe: { (settings) throws(StoreError) in _ = try store(settings) },
        open: { (settings) throws(StoreError) in try store(settings) },
        examine: { (settings) throws(StoreError) in
            guard let folder = settings.places["shelf"] else { return [StoreFinding(.note, "there is none")] }
            let shown = LoggableText(reviewed: "a path in the file system", unredacted: folder)
            var isFolder: ObjCBool = false
            guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else {
                return [StoreFinding(.note, "nothing is kept at \(shown) yet")]
            }
            guard isFolder.boolValue else {
                return [StoreFinding(.problem(.unavailable), "\(shown) is no folder", remedy: "name another place")]
            }
            return [StoreFinding(.good, "a folder at \(shown)")]
        })

    private static func store(_ settings: StoreSettings) throws(StoreError) -> ShelfStore {
        guard let folder = settings.places["shelf"] else {
            throw StoreError(.unavailable, "no shelf is named", hint: "say where it is")
        }
        return ShelfStore(folder: folder)
    }
}
