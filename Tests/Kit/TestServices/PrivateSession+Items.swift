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
