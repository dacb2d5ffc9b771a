internal import Foundation

extension PrivateSession {
    private static let service = "org.freedesktop.secrets"
    private static let servicePath = "/org/freedesktop/secrets"
    private static let serviceInterface = "org.freedesktop.Secret.Service"

    /// Makes an open collection with this label, and returns its path.
    ///
    /// Through gnome-keyring's own door for tests, `InternalUnsupportedGuiltRiddenInterface`, which asks nobody for a
    /// password.
    public func makeCollection(_ label: String, password: String = PrivateSession.password) async throws -> String {
        let run = try await Program("/usr/bin/python3").run(
            ["-c", Self.makeCollectionScript, label], environment: environment, input: Array(password.utf8))
        return try run.successful("make a collection").outputText
    }

    /// The paths of all collections, in an order of their own.
    public func collections() async throws -> Set<String> {
        let answer = try await call(
            Self.service, Self.servicePath, "org.freedesktop.DBus.Properties.Get",
            ["string:" + Self.serviceInterface, "string:Collections"])
        return Set(answer.split { " []\n\t".contains($0) }.map(String.init).filter { $0.hasPrefix("/") })
    }

    /// The path of the default collection, or `/`.
    public func defaultCollection() async throws -> String {
        try await call(Self.service, Self.servicePath, Self.serviceInterface + ".ReadAlias", ["string:default"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The daemon's files as they are on disk now, by name.
    public func keyringFiles() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory / "data/keyrings")
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try directory.read("data/keyrings/" + $0)) })
    }

    private static let makeCollectionScript = #"""
        import sys
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import unwrap_msg

        bus = open_dbus_connection("SESSION")


        def call(interface, method, signature, body):
            address = DBusAddress("/org/freedesktop/secrets", "org.freedesktop.secrets", interface)
            return unwrap_msg(bus.send_and_get_reply(new_method_call(address, method, signature, body)))


        session = call("org.freedesktop.Secret.Service", "OpenSession", "sv", ("plain", ("s", "")))[1]
        label = {"org.freedesktop.Secret.Collection.Label": ("s", sys.argv[1])}
        password = (session, b"", sys.stdin.buffer.read(), "text/plain")
        made = call(
            "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
            "a{sv}(oayays)", (label, password))
        print(made[0], end="")
        """#
}
