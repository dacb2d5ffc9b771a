internal import LatchkeyDBus

/// Methods of the Secret Service, and those that every object has.
extension BusMethod {
    static let searchItems = BusMethod(
        interface: "org.freedesktop.Secret.Collection", name: "SearchItems", reply: "(ao)")
    static let createItem = BusMethod(
        interface: "org.freedesktop.Secret.Collection", name: "CreateItem", reply: "(oo)")
    static let setSecret = BusMethod(interface: "org.freedesktop.Secret.Item", name: "SetSecret", reply: "()")
    static let deleteItem = BusMethod(interface: "org.freedesktop.Secret.Item", name: "Delete", reply: "(o)")
    static let getSecrets = BusMethod(
        interface: "org.freedesktop.Secret.Service", name: "GetSecrets", reply: "(a{o(oayays)})")
    static let unlock = BusMethod(interface: "org.freedesktop.Secret.Service", name: "Unlock", reply: "(aoo)")
    static let lock = BusMethod(interface: "org.freedesktop.Secret.Service", name: "Lock", reply: "(aoo)")
    static let readAlias = BusMethod(interface: "org.freedesktop.Secret.Service", name: "ReadAlias", reply: "(o)")
    static let createCollection = BusMethod(
        interface: "org.freedesktop.Secret.Service", name: "CreateCollection", reply: "(oo)")
    static let prompt = BusMethod(interface: "org.freedesktop.Secret.Prompt", name: "Prompt", reply: "()")
    static let getProperty = BusMethod(interface: "org.freedesktop.DBus.Properties", name: "Get", reply: "(v)")
    static let getAllProperties = BusMethod(
        interface: "org.freedesktop.DBus.Properties", name: "GetAll", reply: "(a{sv})")
    static let setProperty = BusMethod(interface: "org.freedesktop.DBus.Properties", name: "Set", reply: "()")
}

/// Where things are on the bus (Secret Service API, "Object paths").
enum BusName {
    static let wellKnown = "org.freedesktop.secrets"
    static let service = "/org/freedesktop/secrets"
    static let aliases = "/org/freedesktop/secrets/aliases/"
    /// What stands for "no prompt" and "no such alias".
    static let nothing = "/"
    static let serviceInterface: StaticString = "org.freedesktop.Secret.Service"
    static let collectionInterface: StaticString = "org.freedesktop.Secret.Collection"
    static let itemInterface: StaticString = "org.freedesktop.Secret.Item"
    /// Our own signal `ItemChanged(o)`: gnome-keyring 42 sends none when the secret of an item is set.
    static let latchkeyPath = "/org/latchkey/Changes"
    static let latchkeyInterface: StaticString = "org.latchkey.Changes"
    static let promptInterface: StaticString = "org.freedesktop.Secret.Prompt"
}
