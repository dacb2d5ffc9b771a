internal import LatchkeyVault

/// `latchkey vault schema`.
enum VaultSchemaCommand {
    private static let schema = CommandOption.value(
        "--schema", "NAME", help: "schema for the tables (default: latchkey)")

    static let command = Command(
        "vault", "schema", summary: "print the SQL that creates a vault's tables in PostgreSQL",
        operands: [.required("ROLE", help: "role of the database that uses the vault")],
        options: [schema],
        details: """
            schema prints SQL and runs nothing. The administrator of a PostgreSQL database (14 or later) reads the statements and passes
            them to psql. ROLE must exist; it may read and write the vault's rows and nothing else. Each vault has a schema of its own,
            which the vault's URI names: postgresql://HOST/DATABASE?schema=NAME.
            """,
        examples: [
            "latchkey vault schema orders", "latchkey vault schema orders --schema orders | psql secrets",
        ]
    ) { arguments, context in
        let roleName = try name(arguments.operand("ROLE"), of: "role")
        let schemaName = try arguments.value(schema).map { try name($0, of: "schema") } ?? .standard
        for line in VaultStore.schemaStatements(schemaName, for: roleName).split(separator: "\n") {
            let text = LoggableText(reviewed: "a statement of ours, with checked names", unredacted: String(line))
            try context.output.write("\(text)")
        }
        return .success
    }

    private static func name(_ text: String, of what: StaticString) throws -> PostgreSQLSchemaName {
        // All roles together are called `public`.
        guard let name = PostgreSQLSchemaName(text), text != "public" else {
            throw CommandFailure(
                .usage, "usage.bad-value", "not a valid name of a \(what) for a vault",
                hint: "use small letters, digits and `_`, 63 at most, with a letter or `_` first")
        }
        return name
    }
}
