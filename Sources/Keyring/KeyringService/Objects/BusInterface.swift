internal import LatchkeyDBus

/// An interface of an object: its methods, by which calls are checked and done, and what introspection says of it.
struct BusInterface: Sendable {
    /// What goes in and comes out has types and names, such as `a{ss} attributes, b replace`.
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
