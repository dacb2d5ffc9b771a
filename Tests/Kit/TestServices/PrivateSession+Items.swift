internal import Foundation

/// The items of a keyring as any program sees them, through plain D-Bus: no library's idea of them comes between.
extension PrivateSession {
    public struct Item: Sendable, Decodable {
        public let path: String
        public let label: String
        public let attributes: [String: String]
        public let secret: String
    }

    /// All items of a collection, which must be open.
    public func items(in collection: String = PrivateSession.loginCollection) async throws -> [Item] {
        let answer = try await Program("/usr/bin/python3").run(
            ["-c", Self.opening + Self.itemsScript, collection], environment: environment
        ).successful("read the items")
        return try JSONDecoder().decode([Item].self, from: Data(answer.output))
    }

    /// Creates an item as a program does that never searches: another one with the same attributes stays beside it.
    public func createItem(
        _ label: String, _ attributes: [String: String], _ secret: String, contentType: String = "text/plain",
        in collection: String = PrivateSession.loginCollection
    ) async throws {
        let pairs = attributes.flatMap { [$0.key, $0.value] }
        try await Program("/usr/bin/python3").run(
            ["-c", Self.opening + Self.createItemScript, collection, label, contentType] + pairs,
            environment: environment,
            input: Array(secret.utf8)
        ).successful("create an item")
    }

    private static let opening = #"""
        import json, sys
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import unwrap_msg

        bus = open_dbus_connection("SESSION")


        def call(path, interface, method, signature, body):
            address = DBusAddress(path, "org.freedesktop.secrets", interface)
            return unwrap_msg(bus.send_and_get_reply(new_method_call(address, method, signature, body)))


        def get(path, interface, name):
            return call(path, "org.freedesktop.DBus.Properties", "Get", "ss", (interface, name))[0][1]


        root, service = "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"
        collection, item = "org.freedesktop.Secret.Collection", "org.freedesktop.Secret.Item"
        session = call(root, service, "OpenSession", "sv", ("plain", ("s", "")))[1]

        """#

    private static let itemsScript = #"""
        paths = get(sys.argv[1], collection, "Items")
        secrets = call(root, service, "GetSecrets", "aoo", (paths, session))[0]
        items = []
        for path in paths:
            label, attributes = get(path, item, "Label"), get(path, item, "Attributes")
            items.append({"path": path, "label": label, "attributes": attributes,
                "secret": secrets[path][2].decode()})
        print(json.dumps(items))
        """#

    private static let createItemScript = #"""
        path, label, content_type, *pairs = sys.argv[1:]
        properties = {
            item + ".Label": ("s", label),
            item + ".Attributes": ("a{ss}", dict(zip(pairs[::2], pairs[1::2]))),
        }
        secret = (session, b"", sys.stdin.buffer.read(), content_type)
        call(path, collection, "CreateItem", "a{sv}(oayays)b", (properties, secret, False))
        """#
}

extension PrivateSession {
    static let service = "org.freedesktop.secrets"
    static let servicePath = "/org/freedesktop/secrets"
    static let serviceInterface = "org.freedesktop.Secret.Service"

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
