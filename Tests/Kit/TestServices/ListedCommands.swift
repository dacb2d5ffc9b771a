extension ProgramRun {
    /// The commands that `latchkey help` lists, section by section.
    public var listedCommands: [String] {
        let lines = outputText.split(separator: "\n", omittingEmptySubsequences: false)
        let sections = lines.drop { !$0.hasPrefix("usage: ") }.dropFirst().prefix { $0 != "options of every command:" }
        return sections.filter { $0.hasPrefix("  ") }.compactMap { line in
            let entry = line.dropFirst(2)
            return entry.firstRange(of: "  ").map { String(entry[..<$0.lowerBound]) }
        }
    }
}
