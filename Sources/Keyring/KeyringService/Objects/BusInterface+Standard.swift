/// The interfaces of the Secret Service API, and those that every object has.
extension BusInterface {
    static let service = BusInterface(
        name: "org.freedesktop.Secret.Service",
        methods: [
            Method(
                "OpenSession", "(sv)", [Argument("s", "algorithm"), Argument("v", "input")],
                results: [Argument("v", "output"), Argument("o", "result")]),
            Method(
                "CreateCollection", "(a{sv}s)", [Argument("a{sv}", "properties"), Argument("s", "alias")],
                results: [Argument("o", "collection"), Argument("o", "prompt")]),
            Method(
                "SearchItems", "(a{ss})", [Argument("a{ss}", "attributes")],
                results: [Argument("ao", "unlocked"), Argument("ao", "locked")]),
            Method(
                "Unlock", "(ao)", [Argument("ao", "objects")],
                results: [Argument("ao", "unlocked"), Argument("o", "prompt")]),
            Method(
                "Lock", "(ao)", [Argument("ao", "objects")],
                results: [Argument("ao", "locked"), Argument("o", "prompt")]),
            Method(
                "GetSecrets", "(aoo)", [Argument("ao", "items"), Argument("o", "session")],
                results: [Argument("a{o(oayays)}", "secrets")]),
            Method("ReadAlias", "(s)", [Argument("s", "name")], results: [Argument("o", "collection")]),
            Method("SetAlias", "(so)", [Argument("s", "name"), Argument("o", "collection")]),
        ],
        signals: [
            Method("CollectionCreated", "(o)", [Argument("o", "collection")]),
            Method("CollectionDeleted", "(o)", [Argument("o", "collection")]),
            Method("CollectionChanged", "(o)", [Argument("o", "collection")]),
        ],
        properties: [Property("Collections", "ao")])

    static let collection = BusInterface(
        name: "org.freedesktop.Secret.Collection",
        methods: [
            Method("Delete", "()", results: [Argument("o", "prompt")]),
            Method(
                "SearchItems", "(a{ss})", [Argument("a{ss}", "attributes")], results: [Argument("ao", "results")]),
            Method(
                "CreateItem", "(a{sv}(oayays)b)",
                [Argument("a{sv}", "properties"), Argument("(oayays)", "secret"), Argument("b", "replace")],
                results: [Argument("o", "item"), Argument("o", "prompt")]),
        ],
        signals: [
            Method("ItemCreated", "(o)", [Argument("o", "item")]),
            Method("ItemDeleted", "(o)", [Argument("o", "item")]),
            Method("ItemChanged", "(o)", [Argument("o", "item")]),
        ],
        properties: [
            Property("Items", "ao"), Property("Label", "s", isWritable: true), Property("Locked", "b"),
            Property("Created", "t"), Property("Modified", "t"),
        ])

    static let item = BusInterface(
        name: "org.freedesktop.Secret.Item",
        methods: [
            Method("Delete", "()", results: [Argument("o", "prompt")]),
            Method("GetSecret", "(o)", [Argument("o", "session")], results: [Argument("(oayays)", "secret")]),
            Method("SetSecret", "((oayays))", [Argument("(oayays)", "secret")]),
        ],
        properties: [
            Property("Locked", "b"), Property("Attributes", "a{ss}", isWritable: true),
            Property("Label", "s", isWritable: true), Property("Created", "t"), Property("Modified", "t"),
        ])

    static let session = BusInterface(name: "org.freedesktop.Secret.Session", methods: [Method("Close", "()")])

    static let prompt = BusInterface(
        name: "org.freedesktop.Secret.Prompt",
        methods: [Method("Prompt", "(s)", [Argument("s", "window_id")]), Method("Dismiss", "()")],
        signals: [Method("Completed", "(bv)", [Argument("b", "dismissed"), Argument("v", "result")])])

    // MARK: - Ours

    /// A terminal that asks its person for the passphrase; see `KeyringAgents`.
    static let agents = BusInterface(
        name: "org.latchkey.Keyring1",
        methods: [
            Method("RegisterAgent", "()"), Method("UnregisterAgent", "()"),
            Method("Describe", "()", results: [Argument(KeyringDescription.type, "description")]),
        ])

    // MARK: - Of every object

    static let portalSecret = BusInterface(
        name: "org.freedesktop.impl.portal.Secret",
        methods: [
            Method(
                "RetrieveSecret", "(osha{sv})",
                [
                    Argument("o", "handle"), Argument("s", "app_id"), Argument("h", "fd"), Argument("a{sv}", "options"),
                ], results: [Argument("u", "response"), Argument("a{sv}", "results")])
        ], properties: [Property("version", "u")])

    static let properties = BusInterface(
        name: "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                "Get", "(ss)", [Argument("s", "interface_name"), Argument("s", "property_name")],
                results: [Argument("v", "value")]),
            Method("GetAll", "(s)", [Argument("s", "interface_name")], results: [Argument("a{sv}", "properties")]),
            Method(
                "Set", "(ssv)",
                [Argument("s", "interface_name"), Argument("s", "property_name"), Argument("v", "value")]),
        ],
        signals: [
            Method(
                "PropertiesChanged", "(sa{sv}as)",
                [
                    Argument("s", "interface_name"), Argument("a{sv}", "changed_properties"),
                    Argument("as", "invalidated_properties"),
                ])
        ])

    static let introspectable = BusInterface(
        name: "org.freedesktop.DBus.Introspectable",
        methods: [Method("Introspect", "()", results: [Argument("s", "xml_data")])])

    /// GDBus itself responds to these methods, where a call names the interface.
    static let peer = BusInterface(
        name: "org.freedesktop.DBus.Peer",
        methods: [Method("Ping", "()"), Method("GetMachineId", "()", results: [Argument("s", "machine_uuid")])])
}
