internal import LatchkeyCredentials
internal import LatchkeySystem

// What the engine can find out about its own file.

extension SQLiteSession {
    func damage(_ cancellation: Cancellation) throws(StoreError) -> [TableDamage] {
        try snapshot { (session) throws(StoreError) -> [TableDamage] in
            var damage: [TableDamage] = []
            // A lookup takes the lock. Where even that fails, the pages are looked at as they are.
            if try nilIf(\StoreError.isCorruption, of: session.record(Manifest.recordName)) == nil {
                damage.append(TableDamage(kind: .structure, position: 0))
            }
            let pages = try session.connection.checkPages(cancellation)
            damage += pages.damaged.map { TableDamage(kind: .page, position: $0) }
            let found = try nilIf(\StoreError.isCorruption, of: session.structure(pages.fileByteCount, cancellation))
            return damage + (found ?? [TableDamage(kind: .structure, position: 0)])
        }
    }

    private func structure(_ fileByteCount: Int, _ cancellation: Cancellation) throws(StoreError) -> [TableDamage] {
        var damage: [TableDamage] = []
        let count = try connection.prepare("PRAGMA page_count")
        if try count.step(), Int(count.integer(0)) * PageSealedFiles.pageByteCount != fileByteCount {
            damage.append(TableDamage(kind: .length, position: Int(count.integer(0))))
        }
        count.reset()
        try cancellation.check()
        let structure = try connection.prepare("PRAGMA integrity_check(1)")
        if try structure.step(), try structure.text(0) != "ok" {
            damage.append(TableDamage(kind: .structure, position: 0))
        }
        structure.reset()
        return damage
    }
}
