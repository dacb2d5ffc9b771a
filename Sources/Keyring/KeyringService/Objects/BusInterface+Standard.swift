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

    /// A terminal that asks its person for the passphrase; see `KeyringAgents`.
    static let agents = BusInterface(
        name: "org.latchkey.Keyring1",
        methods: [
            Method("RegisterAgent", Keyring.registerAgent), Method("UnregisterAgent", Keyring.unregisterAgent),
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
