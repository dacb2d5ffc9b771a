internal import Testing
internal import TestServices

/// What differs from gnome-keyring, as Docs/HowTo/keyring.md says it: ours is on a vault with a key file.
struct DifferenceTests {
    @Test(arguments: [
        (
            ServedKeyring.Server.vault,
            """
            replace with equal attributes: same item
            replace with fewer attributes: another item
            replace without gnome-keyring's schema: same item
            found by that schema: True
            found by another schema: 0
            replaced without a label: label
            attributes of another type: InvalidArgs
            a label of 5,000 bytes: InvalidArgs
            an attribute without a name: InvalidArgs
            the first collection's label: Latchkey
            content type: application/octet-stream
            another name of text/plain: text/plain
            the newer of two, in memory: first
            a new collection: is there at once
            replace emits: ItemChanged
            an item's Type: UnknownProperty
            an alias of one's own: is made
            a public value of 0: InvalidArgs
            what isn't there: NoSuchObject
            locked: True
            locked, and searched: 1
            locked, and read: IsLocked
            unlocked: without a question
            ChangeLock: UnknownMethod
            LockService: UnknownMethod
            locked, and deleted: IsLocked

            """
        ),
        (
            .gnomeKeyring,
            """
            replace with equal attributes: same item
            replace with fewer attributes: same item
            replace without gnome-keyring's schema: same item
            found by that schema: True
            found by another schema: 0
            replaced without a label: label
            attributes of another type: InvalidArgs
            a label of 5,000 bytes: is taken
            an attribute without a name: is taken
            the first collection's label: Login
            content type: text/plain
            another name of text/plain: text/plain
            the newer of two, in memory: first
            a new collection: asks
            replace emits: ItemCreated
            an item's Type: exists
            an alias of one's own: NotSupported
            a public value of 0: taken
            what isn't there: UnknownMethod
            locked: True
            locked, and searched: 1
            locked, and read: IsLocked
            unlocked: asks
            ChangeLock: exists
            LockService: exists
            locked, and deleted: /

            """
        ),
    ])
    func `the services differ only in the listed points`(_ server: ServedKeyring.Server, _ output: String) async throws
    {
        let keyring = try await ServedKeyring(server)
        let run = try await keyring.python("differences.py")
        #expect(run.outputText == output, "\(run.errorText)")
    }
}
