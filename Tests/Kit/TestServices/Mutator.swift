/// A small generator with a seed, so that a failing run can be repeated (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Changes samples into what nobody thought of: bytes flipped, cut out, repeated, swapped for awkward ones, and pieces
/// of other samples put in.
public struct Mutator {
    private var generator: SeededGenerator
    private let samples: [[UInt8]]
    private let words: [[UInt8]]

    /// - Parameters:
    ///   - words: pieces that mean something to the parser under test.
    public init(seed: UInt64, samples: [String], words: [String]) {
        self.init(seed: seed, samples: samples.map { Array($0.utf8) }, words: words.map { Array($0.utf8) })
    }

    public init(seed: UInt64, samples: [[UInt8]], words: [[UInt8]] = []) {
        generator = SeededGenerator(seed: seed)
        self.samples = samples
        self.words = words + [[0], [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x7F], [0x0A]]
    }

    public mutating func next() -> [UInt8] {
        var bytes = samples.randomElement(using: &generator)!
        for _ in 0..<Int.random(in: 0...6, using: &generator) { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let end = Int.random(in: place...min(bytes.count, place + 12), using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.replaceSubrange(place..<end, with: words.randomElement(using: &generator)!)
        case 5:
            let other = samples.randomElement(using: &generator)!
            bytes.replaceSubrange(
                place..<end, with: other[Int.random(in: 0...other.count, using: &generator)...].prefix(24))
        default: bytes.insert(contentsOf: words.randomElement(using: &generator)!, at: place)
        }
    }
}
