internal import LatchkeyDBus
internal import LatchkeyKeyringService

/// `latchkey keyring status`.
enum StatusCommand {
    static let command = Command(
        "keyring", "status", summary: "show the keyring's program, vault and clients",
        details: """
            status asks no question and starts no program. The state is open or locked; it is unavailable if the vault is missing,
            replaced with an older copy, damaged or out of reach. Exits with 1 if no program serves a keyring on this bus.
            """,
        examples: ["latchkey keyring status"]
    ) { _, context in
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        let found = try await context.bus { () async throws(BusFault) in
            try await KeyringInquiry.ask(at: address, within: context.settings.timeout)
        }
        if context.output.isJSON {
            try context.output.write(json(found))
        } else {
            try context.output.write(table(found))
        }
        return found.owner == nil ? .notFound : .success
    }

    private static func json(_ found: KeyringInquiry) -> JSONOutput {
        .object([
            ("owner", found.owner?.executable.map { .text(path($0)) } ?? .null),
            ("process", found.owner?.processID.map { .number(Int64($0)) } ?? .null),
            ("vault", found.description.map { .text(path($0.place)) } ?? .null),
            ("locked", found.description.map { .bool($0.isLocked && !found.isUnavailable) } ?? .null),
            ("unavailable", found.description.map { _ in .bool(found.isUnavailable) } ?? .null),
            ("clients", .array(found.description?.clients.map { .message("\($0)") } ?? [])),
            ("starts", .bool(found.isActivatable)),
        ])
    }

    private static func table(_ found: KeyringInquiry) -> TextTable {
        var table = TextTable("ABOUT", "FOUND", wrapping: true)
        if let owner = found.owner {
            // Our service hides its process from others, so it identifies itself.
            table.append(
                "served by", found.description == nil ? "\(owner)" : named("latchkey", owner.processID))
        } else {
            table.append("served by", found.isActivatable ? "none yet; the bus starts one on demand" : "no program")
        }
        if let description = found.description {
            table.append("vault", "\(path(description.place))")
            table.append(
                "state",
                found.isUnavailable
                    ? "unavailable; to see why, run `latchkey vault verify` for this vault"
                    : description.isLocked ? "locked" : "open")
            for client in description.clients { table.append("client", "\(client)") }
        } else if found.isSilent {
            table.append("state", "doesn't respond")
        }
        return table
    }

    private static func path(_ text: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a program, as listings show it", unredacted: text)
    }
}
