internal import LatchkeyDBus

/// An interface of an object: its methods, for checking and running calls, and its introspection data.
struct BusInterface: Sendable {
    /// A method. Its arguments and results have types and names, such as `a{ss} attributes, b replace`.
    struct Method: Sendable {
        let name: StaticString
        let parameters: StaticString
        let results: StaticString
        /// The type of the tuple of what goes in.
        let type: String
        let perform: @Sendable (Keyring, Keyring.Object, BusCall) async throws(BusFault) -> BusValue?

        /// - Parameters:
        ///   - target: what the handler needs of the object; `nil` for an object of another kind.
        ///   - handler: returns a tuple; `nil` where that comes later.
        init<Target>(
            _ name: StaticString, takes parameters: StaticString = "", gives results: StaticString = "",
            _ target: @escaping @Sendable (Keyring.Object) -> Target?,
            _ handler: @escaping @Sendable (Keyring) -> (Target, BusCall) async throws(BusFault) -> BusValue?
        ) {
            self.name = name
            self.parameters = parameters
            self.results = results
            type = "(" + arguments(parameters).map(\.type).joined() + ")"
            perform = { (keyring, object, call) async throws(BusFault) in
                guard let target = target(object) else { throw .unknownMethod }
                return try await handler(keyring)(target, call)
            }
        }

        /// For an object that there is one of.
        init(
            _ name: StaticString, takes parameters: StaticString = "", gives results: StaticString = "",
            _ handler: @escaping @Sendable (Keyring) -> (BusCall) async throws(BusFault) -> BusValue?
        ) {
            self.init(name, takes: parameters, gives: results, { $0 }) { keyring in
                { (_, call) async throws(BusFault) in try await handler(keyring)(call) }
            }
        }
    }
    struct Property: Sendable {
        let name: StaticString
        let type: StaticString
        let isWritable: Bool

        init(_ name: StaticString, _ type: StaticString, isWritable: Bool = false) {
            self.name = name
            self.type = type
            self.isWritable = isWritable
        }
    }

    let name: StaticString
    let methods: [Method]
    var signals: [(name: StaticString, arguments: StaticString)] = []
    var properties: [Property] = []

    func method(_ name: String) -> Method? { methods.first { name == $0.name.description } }
    func property(_ name: String) -> Property? { properties.first { name == $0.name.description } }

    // MARK: - Introspection

    /// The document of a node (D-Bus Specification, "Introspection Data Format").
    static func document(_ interfaces: [BusInterface], children: [String]) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in interfaces { text += interface.element }
        for child in children { text += "  <node name=\"\(child)\"/>\n" }
        return text + "</node>\n"
    }

    private var element: String {
        var text = "  <interface name=\"\(name)\">\n"
        for method in methods {
            text += "    <method name=\"\(method.name)\">\n"
            text += Self.elements(method.parameters, " direction=\"in\"")
            text += Self.elements(method.results, " direction=\"out\"") + "    </method>\n"
        }
        for (name, arguments) in signals {
            text += "    <signal name=\"\(name)\">\n" + Self.elements(arguments) + "    </signal>\n"
        }
        for property in properties {
            let access = property.isWritable ? "readwrite" : "read"
            text += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>\n"
        }
        return text + "  </interface>\n"
    }

    private static func elements(_ text: StaticString, _ direction: String = "") -> String {
        arguments(text).map { "      <arg name=\"\($0.name)\" type=\"\($0.type)\"\(direction)/>\n" }.joined()
    }
}

private func arguments(_ text: StaticString) -> [(type: Substring, name: Substring)] {
    text.description.split(separator: ", ").map { argument in
        let parts = argument.split(separator: " ")
        return (parts[0], parts[1])
    }
}

/// The interfaces of the Secret Service API, and those that every object has.
extension BusInterface {
    static let service = BusInterface(
        name: "org.freedesktop.Secret.Service",
        methods: [
            Method("OpenSession", takes: "s algorithm, v input", gives: "v output, o result", Keyring.openSession),
            Method(
                "CreateCollection", takes: "a{sv} properties, s alias", gives: "o collection, o prompt",
                Keyring.createCollection),
            Method("SearchItems", takes: "a{ss} attributes", gives: "ao unlocked, ao locked", Keyring.searchItems),
            Method("Unlock", takes: "ao objects", gives: "ao unlocked, o prompt", Keyring.unlock),
            Method("Lock", takes: "ao objects", gives: "ao locked, o prompt", Keyring.lock),
            Method("GetSecrets", takes: "ao items, o session", gives: "a{o(oayays)} secrets", Keyring.secrets),
            Method("ReadAlias", takes: "s name", gives: "o collection", Keyring.readAlias),
            Method("SetAlias", takes: "s name, o collection", Keyring.setAlias),
        ],
        signals: [
            ("CollectionCreated", "o collection"), ("CollectionDeleted", "o collection"),
            ("CollectionChanged", "o collection"),
        ],
        properties: [Property("Collections", "ao")])

    static let collection = BusInterface(
        name: "org.freedesktop.Secret.Collection",
        methods: [
            Method("Delete", gives: "o prompt", \.collection, Keyring.delete(collection:_:)),
            Method(
                "SearchItems", takes: "a{ss} attributes", gives: "ao results", \.collection, Keyring.searchItems(in:_:)),
            Method(
                "CreateItem", takes: "a{sv} properties, (oayays) secret, b replace", gives: "o item, o prompt",
                \.collection, Keyring.createItem),
        ],
        signals: [("ItemCreated", "o item"), ("ItemDeleted", "o item"), ("ItemChanged", "o item")],
        properties: [
            Property("Items", "ao"), Property("Label", "s", isWritable: true), Property("Locked", "b"),
            Property("Created", "t"), Property("Modified", "t"),
        ])

    static let item = BusInterface(
        name: "org.freedesktop.Secret.Item",
        methods: [
            Method("Delete", gives: "o prompt", \.item, Keyring.delete(item:_:)),
            Method("GetSecret", takes: "o session", gives: "(oayays) secret", \.item, Keyring.getSecret),
            Method("SetSecret", takes: "(oayays) secret", \.item, Keyring.setSecret),
        ],
        properties: [
            Property("Locked", "b"), Property("Attributes", "a{ss}", isWritable: true),
            Property("Label", "s", isWritable: true), Property("Created", "t"), Property("Modified", "t"),
        ])

    static let session = BusInterface(
        name: "org.freedesktop.Secret.Session", methods: [Method("Close", \.session, Keyring.close)])

    static let prompt = BusInterface(
        name: "org.freedesktop.Secret.Prompt",
        methods: [
            Method("Prompt", takes: "s window_id", \.prompt, Keyring.show),
            Method("Dismiss", \.prompt, Keyring.dismiss),
        ],
        signals: [("Completed", "b dismissed, v result")])

    // MARK: - Ours

    /// A terminal that asks its person for the passphrase: `KeyringAgent`.
    static let agents = BusInterface(
        name: "org.latchkey.Keyring1",
        methods: [
            Method("RegisterAgent", Keyring.registerAgent),
            Method("Describe", gives: "(sba(suss)) description", Keyring.describe),
        ])

    static let portalSecret = BusInterface(
        name: "org.freedesktop.impl.portal.Secret",
        methods: [
            Method(
                "RetrieveSecret", takes: "o handle, s app_id, h fd, a{sv} options", gives: "u response, a{sv} results",
                Keyring.retrieveSecret)
        ], properties: [Property("version", "u")])

    // MARK: - Of every object

    static let properties = BusInterface(
        name: "org.freedesktop.DBus.Properties",
        methods: [
            Method("Get", takes: "s interface_name, s property_name", gives: "v value", { $0 }, Keyring.getProperty),
            Method("GetAll", takes: "s interface_name", gives: "a{sv} properties", { $0 }, Keyring.getProperties),
            Method("Set", takes: "s interface_name, s property_name, v value", { $0 }, Keyring.setProperty),
        ],
        signals: [
            ("PropertiesChanged", "s interface_name, a{sv} changed_properties, as invalidated_properties")
        ])

    static let introspectable = BusInterface(
        name: "org.freedesktop.DBus.Introspectable",
        methods: [Method("Introspect", gives: "s xml_data", { $0 }, Keyring.introspect)])

    /// GDBus itself responds to these methods, where a call names the interface.
    static let peer = BusInterface(
        name: "org.freedesktop.DBus.Peer",
        methods: [Method("Ping", Keyring.refuse), Method("GetMachineId", gives: "s machine_uuid", Keyring.refuse)])
}
