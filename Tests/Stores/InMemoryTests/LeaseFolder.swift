import Foundation
import LatchkeyCredentials

/// A lease directory of one test's own, which the test removes.
struct LeaseFolder {
    let directory: LeaseDirectory
    private let path: String

    init() throws {
        path = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        directory = LeaseDirectory(path: path + "/leases")
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
