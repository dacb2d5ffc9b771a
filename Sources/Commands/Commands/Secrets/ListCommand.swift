/// `latchkey list [SERVICE]` and `latchkey search WORD`.
enum ListCommand {
    private static let all = CommandOption.flag(
        "--all", help: "list the sessions, keys and client secrets of sign-ins too")

    private static let stale = CommandOption.value(
        "--stale", "DAYS", form: .count(36_500), help: "only secrets that haven't changed for this many days")

    static let command = Command(
        "list", summary: "list stored secrets by name",
        operands: [.optional("SERVICE", help: "beginning of the services to list (default: all)")],
        options: [all, stale, items],
        details: """
            list never shows a secret. To list sign-ins, run `latchkey accounts`; --all adds the sessions, keys and client
            secrets that sign-ins have stored, which get doesn't write.

            With --all-stores, list also shows each credential's store. If one of the stores can't be opened, list shows
            the others first and then fails.

            --items lists the items that other programs have stored in the vault with more attributes. With SERVICE, it
            lists those whose attribute service begins with SERVICE.

            list sorts up to 10,000 credentials by name. It shows more than that in the order of the store; one of them may
            then appear twice while the vault is rekeyed.
            """,
        examples: [
            "latchkey list", "latchkey list exam", "latchkey list --stale 365", "latchkey list --json",
            "latchkey list --items",
        ]
    ) { arguments, context in
        let beginning = arguments.optionalOperand("SERVICE") ?? ""
        let latest = arguments.count(stale).map { UnixTime.now().seconds - Int64($0) * 86_400 } ?? .max
        if arguments.has(items) {
            return try await listItems(
                ofServicesThatBeginWith: beginning, changedUntil: latest, arguments, context)
        }
        return try await list(arguments, context) { entry in
            entry.key.service.utf8.starts(with: beginning.utf8) && entry.modified.seconds <= latest
        }
    }

    static let search = Command(
        "search", summary: "search services, accounts and labels for a word",
        operands: [.required("WORD", help: "any part of a name; upper and lower case are equal")], options: [all],
        details: """
            search also lists the items that other programs have stored in the vault if WORD is in their label or in the
            value of an attribute. With --json, these have the kind item.
            """,
        examples: ["latchkey search alice"]
    ) { arguments, context in
        let word = arguments.operand("WORD").lowercased()
        return try await list(arguments, context, itemsWith: word) { entry in
            [entry.key.service, entry.key.account, entry.label].contains { $0.lowercased().contains(word) }
        }
    }

    /// - Parameter word: in lower case; other programs' items that have it are listed too. `nil`: none are.
    private static func list(
        _ arguments: ParsedArguments, _ context: CommandContext, itemsWith word: String? = nil,
        where isWanted: @escaping @Sendable (CredentialMetadata) -> Bool
    ) async throws -> ExitStatus {
        let view = try await context.openView()
        var rows = Rows(
            view.stores.map { ($0, $0.list(deadline: context.deadline)) }, goesOnWithout: context.usesAllStores,
            showsAll: arguments.has(all), isWanted: isWanted)
        // Stores have orders of their own; people look for names.
        var batch = try await rows.next(sortedCount + 1)
        var isAtEnd = batch.count <= sortedCount
        if isAtEnd { batch = latest(batch).sorted { $0.entry.key.isListed(before: $1.entry.key) } }
        var table = TextTable(
            "SERVICE", "ACCOUNT", "KIND", "CHANGED", "STORE", "LABEL", dropping: ["LABEL", "KIND", "CHANGED"],
            omitting: context.usesAllStores ? [] : ["STORE"])
        var array = JSONArrayOutput(context.output)
        var shownCount = 0
        while true {
            shownCount += batch.count
            if arguments.has(GlobalOptions.json) {
                try array.write(batch.map { json($0, namesStore: context.usesAllStores) })
            } else {
                for row in batch { append(row, to: &table) }
                try context.output.write(table)
                table = table.continued()
            }
            if isAtEnd { break }
            batch = try await rows.next(batchCount)
            isAtEnd = batch.count < batchCount
        }
        if let word {
            let items = try await items(of: view, with: word, context)
            shownCount += items.count
            if arguments.has(GlobalOptions.json) {
                try array.write(items.map { json($0, saysKind: true) })
            } else {
                try context.output.write(self.table(items))
            }
        }
        if arguments.has(GlobalOptions.json) { try array.end() }
        if shownCount == 0, !arguments.has(GlobalOptions.json) {
            let places = LogMessage.joined(view.stores.map { "\($0.identity)" }, separator: " and ")
            let isEmpty = rows.entryCount == (word == nil ? rows.hiddenCount : 0)
            let result: StaticString = isEmpty ? "no secret is stored" : "no secret matches"
            context.output.note("\(result) in \(places)")
        }
        if rows.hiddenCount > 0, context.output.tellsPerson, !context.output.isJSON {
            context.output.note(
                "\(LogMessage.counted(rows.hiddenCount, "more belongs", "more belong")) to sign-ins: latchkey accounts, or list --all"
            )
        }
        if word == nil { tellOfItems(in: view, besides: rows.entryCount, context) }
        // An unreadable store may contain the secret too.
        let refusals = view.refusals.map { ("\($0.name)" as LogMessage, $0.error) } + rows.refusals
        if let (name, error) = refusals.first { throw CommandFailure(notListed: name, error) }
        return .success
    }

    /// How many are held in memory to be sorted.
    private static let sortedCount = 10_000
    /// How many of more than that are written at once.
    private static let batchCount = 500

    private struct Row {
        let entry: CredentialMetadata
        let store: StoreIdentity
    }

    /// The contents of the stores, one store after the other.
    private struct Rows {
        private var stores: [(identity: StoreIdentity, entries: CredentialListing.Iterator)]
        private let goesOnWithout: Bool
        private let showsAll: Bool
        private let isWanted: @Sendable (CredentialMetadata) -> Bool
        /// How many there were, wanted or not.
        private(set) var entryCount = 0
        /// The number of matches of a kind that `get` doesn't read.
        private(set) var hiddenCount = 0
        /// Stores that were left out, or not read to their end.
        private(set) var refusals: [(name: LogMessage, error: StoreError)] = []

        init(
            _ listings: [(store: any CredentialStore, listing: CredentialListing)], goesOnWithout: Bool, showsAll: Bool,
            isWanted: @escaping @Sendable (CredentialMetadata) -> Bool
        ) {
            stores = listings.map { ($0.store.identity, $0.listing.makeAsyncIterator()) }
            self.goesOnWithout = goesOnWithout
            self.showsAll = showsAll
            self.isWanted = isWanted
        }

        /// The next so many, fewer at the end.
        mutating func next(_ count: Int) async throws(StoreError) -> [Row] {
            var batch: [Row] = []
            while batch.count < count, var current = stores.first {
                do throws(StoreError) {
                    if let entry = try await current.entries.next() {
                        stores[0] = current
                        entryCount += 1
                        if !isWanted(entry) { continue }
                        if showsAll || entry.key.kind == .password {
                            batch.append(Row(entry: entry, store: current.identity))
                        } else {
                            hiddenCount += 1
                        }
                        continue
                    }
                } catch {
                    guard goesOnWithout, error.code != .cancelled else { throw error }
                    refusals.append(("\(current.identity)", error))
                }
                stores.removeFirst()
            }
            return batch
        }
    }

    /// Each credential once: of what was changed and so came twice, the later state.
    private static func latest(_ rows: [Row]) -> [Row] {
        struct Place: Hashable {
            let key: CredentialKey
            let store: StoreIdentity
        }
        var latest: [Row] = []
        var places: [Place: Int] = [:]
        for row in rows {
            let place = Place(key: row.entry.key, store: row.store)
            if let index = places[place] {
                latest[index] = row
            } else {
                places[place] = latest.count
                latest.append(row)
            }
        }
        return latest
    }

    private static func append(_ row: Row, to table: inout TextTable) {
        let key = row.entry.key
        table.append(
            "\(name(key.service))", "\(name(key.account))", "\(key.kind)", "\(Moment(row.entry.modified))",
            "\(row.store)", "\(name(row.entry.label))")
    }

    private static func json(_ row: Row, namesStore: Bool) -> JSONOutput {
        let entry = row.entry
        return .object(
            [
                ("service", .text(name(entry.key.service))), ("account", .text(name(entry.key.account))),
                ("kind", .message("\(entry.key.kind)")), ("label", .text(name(entry.label))),
                ("created", .message("\(Moment(entry.created))")), ("changed", .message("\(Moment(entry.modified))")),
            ] + (namesStore ? [("store", .message("\(row.store)"))] : []))
    }

    private static func name(_ text: String) -> LoggableText {
        LoggableText(reviewed: "services, accounts and labels are what a listing shows", unredacted: text)
    }
}

extension CommandFailure {
    package init(notListed store: LogMessage, _ error: StoreError) {
        self.init(
            error, "not every store could be listed: \(store): \(error.cause)",
            hint: error.hint)
    }
}

extension CredentialKey {
    /// The order in which people look for names.
    package func isListed(before other: CredentialKey) -> Bool {
        for (left, right) in [
            (service, other.service), (account, other.account), (kind.name, other.kind.name),
        ] where !left.hasSameOctets(as: right) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
