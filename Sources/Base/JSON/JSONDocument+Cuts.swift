extension JSONDocument {
    /// Where members of an object stand, with the commas that go with them.
    package borrowing func cuts(of names: [StaticString], in object: JSONValue) -> [Range<Int>] {
        let members = members(of: object)
        var cuts: [Range<Int>] = []
        var hasKept = false
        for (index, member) in members.enumerated() {
            var isCut = false
            for name in names where isText(member.name, name) { isCut = true }
            if !isCut {
                hasKept = true
            } else if hasKept {
                cuts.append(place(of: members[index - 1].value).upperBound..<place(of: member.value).upperBound)
            } else if index + 1 < members.count {
                cuts.append(place(of: member.name).lowerBound..<place(of: members[index + 1].name).lowerBound)
            } else {
                // All of them go.
                let inside = place(of: object)
                return [(inside.lowerBound + 1)..<(inside.upperBound - 1)]
            }
        }
        return cuts
    }
}
