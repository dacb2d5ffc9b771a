internal import LatchkeyLog
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault schema`.
enum VaultSchemaCommand {
    private static let schema = CommandOption.value(
        "--schema", "NAME", help: "the schema that the tables are in; without it `latchkey`")

    static let command = Command(
        "vault", "schema", summary: "print the statements that give a database the tables of a vault",
        operands: [.required("ROLE", help: "the role of the database that works with the vault")],
        options: [schema],
        details: """
            Nothing is run: the administrator of a PostgreSQL database (14 or later) reads the statements and gives them
            to psql. The role may work with the vault's rows and do nothing else; it has to be there. Each vault is in a
            schema of its own, which the vault's URI names: postgresql://HOST/DATABASE?schema=NAME.
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
        guard let name = PostgreSQLSchemaName(text) else {
            throw CommandFailure(
                .usage, "usage.bad-value", "that is no name of a \(what)",
                hint: "use small letters, digits and `_`, 63 at most, with a letter or `_` first")
        }
        return name
    }
}
