import LatchkeyCredentials
import LatchkeySecrets
import TestServices
import Testing

@testable import LatchkeyVault

/// Bytes that nobody vouches for: a value or a refusal, never a trap.
@Suite struct DecoderTests {
    private static let rounds = runsLong ? 2_000_000 : 20_000

    /// Random bytes, or something sound with a few bytes changed, cut or doubled.
    private func mutant(of sound: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = sound
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            let count = Int.random(in: 0...300, using: &generator)
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
        case 2: bytes += bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))
        default: break
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
            let interesting: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, UInt8.random(in: 0...255, using: &generator)]
            bytes[Int.random(in: bytes.indices, using: &generator)] = interesting.randomElement(using: &generator)!
        }
        return bytes
    }

    private static func sample() throws -> Row {
        Row(
            name: .key(key("ada")), label: "label", contentType: "text/plain", created: UnixTime(seconds: 5),
            modified: UnixTime(seconds: 6),
            version: CredentialVersion(bytes: (0..<16).map { UInt8($0) }), secretByteCount: 7)
    }

    @Test func `only metadata in the encoder's own form is decoded`() async throws {
        let bytes = try Self.sample().encode()
        #expect(bytes.count == 256)
        let decoded = try #require(Row.decode(bytes))
        #expect(decoded.encode() == bytes)
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        var accepted = 0
        var differing = 0
        for round in 0..<Self.rounds {
            // Tests beside this one wait for processes and servers, and there are few threads for all.
            if round % 128 == 0 { await Task.yield() }
            let mutant = mutant(of: bytes, &generator)
            guard let decoded = Row.decode(mutant) else { continue }
            accepted += 1
            if decoded.encode() != mutant { differing += 1 }
        }
        // What is accepted has one encoding: nothing hides in it.
        #expect(differing == 0)
        #expect(accepted < Self.rounds)
    }

    @Test(arguments: [KeySlotKind.passphrase, .systemCredential, .secretService])
    func `slots are decoded or refused`(_ kind: KeySlotKind) async throws {
        let keys = try VaultKeys.random(.random())
        let folder = try VaultFolder()
        let unit = try UnitCredentials(in: folder)
        try unit.write("name", try Sealing.randomOctets(32))
        let source: VaultKeySource =
            switch kind {
            case .passphrase: passphrase("p")
            case .systemCredential: .systemCredential(unit.key("name"))
            default:
                .keptKey(
                    try .random(byteCount: 32),
                    of: KeySlotReference(vault: keys.vault, slot: try Sealing.randomOctets(16)))
            }
        let slot = try NewKeySlot(
            source, name: .passphrase, cost: .cheap, created: UnixTime(seconds: 1), vault: keys.vault)
        let sound = try slot.sealed(keys).encode()
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        for round in 0..<Self.rounds {
            if round % 128 == 0 { await Task.yield() }
            let record = NamedRecord(name: sound.name, content: mutant(of: sound.content, &generator))
            do throws(StoreError) {
                guard let decoded = try KeySlot.decode(record) else { continue }
                if decoded.encode() != record { Issue.record("a slot was read as another one") }
                if let cost = decoded.cost, cost.passes > 16 || cost.memoryByteCount > 1 << 30 {
                    Issue.record("a slot may ask for too much")
                }
            } catch {
                if error.code != .corrupted { Issue.record("\(error)") }
            }
        }
    }

    @Test func `sealed bytes that were changed don't open`() async throws {
        let keys = try VaultKeys.random(.random())
        let manifest = try Manifest(recordsDigest: [UInt8](repeating: 1, count: 32)).seal(keys)
        let record = try FormerKeys().adding(keys.rollback).seal(keys).content
        #expect(try Manifest.open(manifest, keys).generation == 1)
        #expect(try FormerKeys.open(record, keys).contains(keys.rollback))
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        for round in 0..<Self.rounds / 10 {
            if round % 32 == 0 { await Task.yield() }
            for sound in [manifest, record] {
                let mutant = mutant(of: sound, &generator)
                if mutant == sound { continue }
                if (try? Manifest.open(mutant, keys)) != nil || (try? FormerKeys.open(mutant, keys)) != nil {
                    Issue.record("changed bytes opened")
                }
            }
        }
    }

    @Test func `data sealed for one use, item or vault opens for no other`() throws {
        let vaults = [try VaultID.random(), try VaultID.random()]
        let root = try Sealing.randomKey(as: RootKey.self)
        let keys = VaultKeys(root.duplicate(), vault: vaults[0])
        let others = VaultKeys(root.duplicate(), vault: vaults[1])
        let manifest = try Manifest(recordsDigest: [UInt8](repeating: 1, count: 32)).seal(keys)
        #expect((try? Manifest.open(manifest, others)) == nil)
        let (here, there) = (keys.lookup(of: key("ada")), keys.lookup(of: key("bob")))
        #expect(here != there)
        #expect(here != others.lookup(of: key("ada")))
        #expect(here != keys.lookup(of: key("ada", kind: .session)))
        let sealed = try keys.seal(try Self.sample(), at: here)
        #expect(keys.openMetadata(sealed.span, at: here) != nil)
        #expect(keys.openMetadata(sealed.span, at: there) == nil)
        #expect(others.openMetadata(sealed.span, at: here) == nil)
    }

    @Test func `removing additions in any order restores the set hash`() {
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        let digests = (0..<50).map { _ in (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) } }
        var hash = SetHash()
        for digest in digests { hash.add(digest) }
        var other = SetHash()
        for digest in digests.shuffled() { other.add(digest) }
        #expect(hash == other)
        for digest in digests.shuffled() { hash.subtract(digest) }
        #expect(hash == SetHash())
        // Over all limbs: 0 − 1 is the largest number, and adding 1 comes back to 0.
        let one = [1] + [UInt8](repeating: 0, count: 31)
        hash.subtract(one)
        #expect(hash.limbs == [.max, .max, .max, .max])
        hash.add(one)
        #expect(hash == SetHash())
    }
}
