import Foundation
import TestServices
import Testing

@testable import LatchkeyLeakAudit

/// The search by tables beside one that looks at every place of every form: both must say the same, of anything.
@Suite struct FastSearchTests {
    /// What looks everywhere is slow.
    static let rounds = runsLong ? 200 : 5

    /// So many random bytes of few different values, among which windows, breaks and beginnings often meet.
    static func text(_ count: Int, of alphabet: [UInt8], _ generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in alphabet.randomElement(using: &generator)! }
    }

    /// A text made of pieces of secrets in their forms, broken over lines here and there, with other text between.
    static func mixture(
        _ forms: [EncodedForm], alphabet: [UInt8], _ generator: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var result: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let form = forms.randomElement(using: &generator)!.bytes
            let start = Int.random(in: 0...form.count, using: &generator)
            let end = Int.random(in: start...form.count, using: &generator)
            for byte in form[start..<end] {
                result.append(byte)
                if Int.random(in: 0..<12, using: &generator) == 0 {
                    result += [[10], [13], [13, 10], [10, 10]].randomElement(using: &generator)!
                }
            }
            result += text(Int.random(in: 0...20, using: &generator), of: alphabet, &generator)
        }
        return result
    }

    // MARK: - The same, by looking everywhere

    struct Place: Hashable { let form: Int, range: Range<Int> }

    /// What `FormIndex.matches(in:)` says it returns; only windows that begin where `isLookedUp` says.
    static func placesByLookingEverywhere(
        _ forms: [EncodedForm], in text: [UInt8], where isLookedUp: (Int) -> Bool = { _ in true }
    ) -> [Place] {
        var found: [Place] = []
        var offset = 0
        while offset + 8 <= text.count {
            let floor = found.last?.range.upperBound ?? 0
            var best: Place?
            for (number, form) in forms.enumerated() where isLookedUp(offset) && offset >= floor {
                for position in 0..<max(0, form.bytes.count - 7)
                where form.bytes[position] == text[offset]
                    && form.bytes[position..<position + 8].elementsEqual(text[offset..<offset + 8])
                {
                    var (low, high) = (0, 8)
                    while position - low > 0, offset - low > floor,
                        form.bytes[position - low - 1] == text[offset - low - 1]
                    {
                        low += 1
                    }
                    while position + high < form.bytes.count, offset + high < text.count,
                        form.bytes[position + high] == text[offset + high]
                    {
                        high += 1
                    }
                    if low + high >= form.fragment, low + high > best?.range.count ?? 0 {
                        best = Place(form: number, range: offset - low..<offset + high)
                    }
                }
            }
            if let best { found.append(best) }
            offset = max(offset + 1, best?.range.upperBound ?? 0)
        }
        return found
    }

    static func places(_ matches: [FormIndex.Match]) -> [Place] {
        matches.map { Place(form: $0.form, range: $0.range) }
    }

    // MARK: - Tests

    /// Secrets of few characters, so that one's windows are often another's, and hexadecimal ones.
    @Test(arguments: ["ab", "abcdef0123456789", "aZ9/+ é\"<&>'\\q7Xw=~-_.K2"], 1...rounds)
    func `the search by tables finds the same as a full search`(_ characters: String, _ round: Int) {
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        let alphabet = Array(characters.utf8)
        var forms: [EncodedForm] = []
        for canary in 0..<Int.random(in: 1...4, using: &generator) {
            let secret = Self.text(Int.random(in: 8...30, using: &generator), of: alphabet, &generator)
            forms += EncodedForm.all(of: secret.span, canary: canary)
        }
        let index = FormIndex(forms)
        for _ in 0..<4 {
            let text = Self.mixture(forms, alphabet: alphabet, &generator)
            #expect(Self.places(index.matches(in: text)) == Self.placesByLookingEverywhere(forms, in: text), "\(text)")
        }
        for byteCount in 0...12 {
            let text = Self.text(byteCount, of: alphabet, &generator)
            #expect(Self.places(index.matches(in: text)) == Self.placesByLookingEverywhere(forms, in: text), "\(text)")
        }
    }

    @Test(arguments: ["ab", "abcdef0123456789", "aZ9/+ é\"<&>'\\q7Xw=~-_.K2"], 1...rounds)
    func `a secret across line breaks is found`(_ characters: String, _ round: Int) {
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        let alphabet = Array(characters.utf8)
        let secret = Self.text(Int.random(in: 8...30, using: &generator), of: alphabet, &generator)
        let forms = EncodedForm.all(of: secret.span, canary: 0)
        let index = FormIndex(forms)
        for _ in 0..<8 {
            let text = Self.mixture(forms, alphabet: alphabet + [10, 13], &generator)
            var (joined, breaks) = ([UInt8](), Set<Int>())
            for byte in text {
                if byte == 10 || byte == 13 { breaks.insert(joined.count) } else { joined.append(byte) }
            }
            func isAcross(_ offset: Int) -> Bool { (offset + 1..<offset + 8).contains { breaks.contains($0) } }
            let places = Self.placesByLookingEverywhere(forms, in: joined, where: isAcross)
            #expect(Self.places(index.matches(in: joined, across: breaks.sorted())) == places, "\(text)")
        }
    }

    /// Beginnings of forms, whole tokens and pieces of them at every distance of each other.
    @Test(arguments: 1...rounds * 4)
    func `tokens that weren't planted are found at any position`(_ round: Int) {
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        let search = KnownFormSearch.standard
        var text: [UInt8] = []
        for _ in 0..<60 {
            let token = Array(KnownFormTests.planted.randomElement(using: &generator)!.1.utf8)
            let pieces: [[UInt8]] = [
                token, Array(token.prefix(Int.random(in: 1...6, using: &generator))), Array("://ada:pass@".utf8),
                Array("a://".utf8), Array("-----BEGIN ".utf8),
                Self.text(Int.random(in: 0...3, using: &generator), of: Array("-:/ egxA.\n".utf8), &generator),
            ]
            text += pieces.randomElement(using: &generator)!
        }
        text += Array(("\nghp_" + KnownFormTests.letters(36)).utf8)
        var found: [Range<Int>] = []
        var offset = 0
        while offset < text.count {
            let match = search.match(in: text.span, at: offset)
            if let match { found.append(match.range) }
            offset = match?.range.upperBound ?? offset + 1
        }
        #expect(search.all(in: text).map(\.range) == found)
        #expect(!found.isEmpty)
    }
}
