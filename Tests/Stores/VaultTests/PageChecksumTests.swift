import Testing

@testable import LatchkeyVault

/// XXH64, and what it is for.
@Suite struct PageChecksumTests {
    /// The first three are published everywhere; the others are what libxxhash 0.8.1 says.
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("abc", 0, 0x44BC_2CF5_AD77_0999),
            ("", 2_654_435_761, 0xAC75_FDA2_929B_17EF), ("abc", 2_654_435_761, 0x1318_DF30_094A_85FD),
            ("abcdefghijklmnopqrstuvwxyz0123456789", 0, 0x64F2_3ECF_1609_B766),
            ("abcdefghijklmnopqrstuvwxyz0123456789", 2_654_435_761, 0x3444_D3C7_9B39_7331),
        ] as [(String, UInt64, UInt64)])
    func `it gives the answers of XXH64`(_ message: String, _ seed: UInt64, _ expected: UInt64) {
        let bytes = Array(message.utf8)
        let digest = PageChecksum.digest(bytes.span, seed: seed)
        #expect(digest == expected)
    }

    @Test(arguments: [(0, 0xE990_3849_5F85_381E), (2_654_435_761, 0xA1C6_D417_4C37_136D)] as [(UInt64, UInt64)])
    func `and of a message of several rounds`(_ seed: UInt64, _ expected: UInt64) {
        let bytes = (0..<101).map { UInt8($0) }
        let digest = PageChecksum.digest(bytes.span, seed: seed)
        #expect(digest == expected)
    }

    @Test func `each flipped bit of a page is noticed, and a page in another's place`() {
        var page = (0..<4096).map { _ in UInt8.random(in: .min ... .max) }
        var span = page.mutableSpan
        PageSealedFiles.seal(page: 7, &span)
        let (isIntact, isIntactElsewhere) = (
            PageSealedFiles.isIntact(page: 7, page.span), PageSealedFiles.isIntact(page: 8, page.span)
        )
        #expect(isIntact && !isIntactElsewhere)
        var missed = 0
        for bit in 0..<page.count * 8 {
            page[bit / 8] ^= 1 << (bit % 8)
            if PageSealedFiles.isIntact(page: 7, page.span) { missed += 1 }
            page[bit / 8] ^= 1 << (bit % 8)
        }
        #expect(missed == 0)
    }

    @Test func `a page of zeros is no sound page, whatever its number`() {
        let page = [UInt8](repeating: 0, count: 4096)
        let sound = (1...10_000).filter { PageSealedFiles.isIntact(page: $0, page.span) }
        #expect(sound.isEmpty)
    }
}
