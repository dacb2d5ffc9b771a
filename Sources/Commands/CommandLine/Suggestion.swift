/// Finds the word that somebody probably meant.
package enum Suggestion {
    /// Returns the nearest of `words`, or `nil` when none is near: at most one slip for each three letters.
    package static func nearest<Word: CustomStringConvertible>(to text: String, in words: some Sequence<Word>) -> Word?
    {
        guard text.utf8.count <= 64 else { return nil }
        let ranked = words.map { (word: $0, slips: slips(from: Array(text.utf8), to: Array($0.description.utf8))) }
        guard let best = ranked.min(by: { $0.slips < $1.slips }) else { return nil }
        let letters = best.word.description.utf8.drop { $0 == UInt8(ascii: "-") }.count
        return best.slips <= max(1, letters / 3) ? best.word : nil
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours between two words (optimal string
    /// alignment).
    static func slips(from: [UInt8], to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for i in 0..<from.count {
            var row = [i + 1] + Array(repeating: 0, count: to.count)
            for j in 0..<to.count {
                let substituted = last[j] + (from[i] == to[j] ? 0 : 1)
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, substituted)
                if i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[to.count]
    }
}
