// `latchkey list --items`: what a vault keeps for other programs, with attributes of their own.

extension ListCommand {
    static let items = CommandOption.flag(
        "--items", help: "list what other programs have in the vault, with attributes of their own")

    /// - Parameter beginning: of the attribute `service`; of items without it, nothing else than an empty one.
    static func listItems(
        ofServicesThatBeginWith beginning: String, changedUntil latest: Int64, _ arguments: ParsedArguments,
        _ context: CommandContext
    ) async throws -> ExitStatus {
        let view = try await context.openView()
        guard view.stores.contains(where: { $0.collections != nil }) else {
            throw CommandFailure(
                .usage, "usage.not-a-vault", "only a vault has items with attributes of their own",
                hint: "--store vault names it; a keyring's own are in its application")
        }
        let found = try await items(of: view, context) { item in
            guard item.modified.seconds <= latest else { return false }
            return beginning.isEmpty
                || item.attributes[ItemAttributes.service]?.utf8.starts(with: beginning.utf8) ?? false
        }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(found.map { json($0, saysKind: false) }))
        } else {
            try context.output.write(table(found))
        }
        return .success
    }

    /// Items with a word in their label or in the value of an attribute, but for those that a listing has as credentials.
    ///
    /// - Parameter word: in lower case.
    static func items(
        of view: StoreView, with word: String, _ context: CommandContext
    ) async throws(StoreError) -> [Item] {
        try await items(of: view, context) { item in
            let has = { (text: String) in text.lowercased().contains(word) }
            if let key = item.key, [key.service, key.account, item.label].contains(where: has) { return false }
            return has(item.label) || item.attributes.all.contains { has($0.value) }
        }
    }

    private static func items(
        of view: StoreView, _ context: CommandContext, where isListed: (Item) -> Bool
    ) async throws(StoreError) -> [Item] {
        var found: [Item] = []
        for vault in view.stores.compactMap(\.collections) {
            found += try await vault.unnamedItems(deadline: context.deadline).filter(isListed)
        }
        return found.sorted { ($0.label, $0.collection, $0.id.element) < ($1.label, $1.collection, $1.id.element) }
    }

    static func table(_ items: [Item]) -> TextTable {
        var table = TextTable(
            "LABEL", "ATTRIBUTES", "COLLECTION", "CHANGED", dropping: ["CHANGED", "COLLECTION", "LABEL"])
        for item in items {
            table.append(
                "\(shown(item.label))", "\(shown(item.attributes.listed))", "\(shown(item.collection))",
                "\(Moment(item.modified))")
        }
        return table
    }

    /// - Parameter saysKind: where there are credentials beside it.
    static func json(_ item: Item, saysKind: Bool) -> JSONOutput {
        .object(
            (saysKind ? [("kind", .message("item"))] : []) + [
                ("label", .text(shown(item.label))),
                ("attributes", .attributes(item.attributes)),
                ("collection", .text(shown(item.collection))), ("content_type", .text(shown(item.contentType))),
                ("created", .message("\(Moment(item.created))")), ("changed", .message("\(Moment(item.modified))")),
            ])
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "labels and attributes are what a listing shows", unredacted: text)
    }

    /// Says at a terminal that there are items too, of which this listing shows nothing.
    ///
    /// - Parameter count: how many credentials were listed or passed over.
    static func tellOfItems(in view: StoreView, besides count: Int, _ context: CommandContext) {
        guard context.output.tellsPerson, !context.output.isJSON, view.stores.count == 1,
            let rowCount = view.stores[0].collections?.rowCount, rowCount > count
        else { return }
        let items = LogMessage.counted(
            rowCount - count, "item has other attributes", "items have other attributes")
        context.output.note("\(items): latchkey list --items")
    }
}

extension ItemAttributes {
    /// As a listing shows them to people.
    package var listed: String { all.map { "\($0.name)=\($0.value)" }.joined(separator: " ") }
}

extension JSONOutput {
    /// Attributes as a listing shows them to programs.
    package static func attributes(_ attributes: ItemAttributes) -> JSONOutput {
        func shown(_ text: String) -> LoggableText {
            LoggableText(reviewed: "attributes are what a listing shows", unredacted: text)
        }
        return .array(
            attributes.all.map { .object([("name", .text(shown($0.name))), ("value", .text(shown($0.value)))]) })
    }
}
