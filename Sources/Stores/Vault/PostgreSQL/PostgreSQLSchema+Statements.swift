extension VaultStore {
    /// The statements that give a database the tables of a vault, for its administrator: nothing here runs them.
    ///
    /// - Parameter role: may work with the vault, and do nothing else.
    package static func schemaStatements(_ schema: PostgreSQLSchemaName, for role: PostgreSQLSchemaName) -> String {
        var lines = ["BEGIN;", "CREATE SCHEMA \(schema.name);"]
        lines += PostgreSQLSchema.tables.map { $0.replacing("%", with: schema.name) + ";" }
        lines += [
            "GRANT USAGE ON SCHEMA \(schema.name) TO \(role.name);",
            """
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema.name).items, \(schema.name).links, \
            \(schema.name).records, \(schema.name).leases TO \(role.name);
            """, "COMMIT;",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
