/// What an interface of an object has, as introspection tells it and calls are checked by.
struct BusInterface: Sendable {
    struct Argument: Sendable {
        let name: StaticString
        let type: StaticString

        init(_ type: StaticString, _ name: StaticString) {
            self.type = type
            self.name = name
        }
    }
    struct Method: Sendable {
        let name: StaticString
        /// The type of the tuple of what goes in.
        let type: StaticString
        let parameters: [Argument]
        let results: [Argument]

        init(_ name: StaticString, _ type: StaticString, _ parameters: [Argument] = [], results: [Argument] = []) {
            self.name = name
            self.type = type
            self.parameters = parameters
            self.results = results
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
    var methods: [Method] = []
    var signals: [Method] = []
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
            for (direction, arguments) in [("in", method.parameters), ("out", method.results)] {
                for argument in arguments {
                    text +=
                        "      <arg name=\"\(argument.name)\" type=\"\(argument.type)\" direction=\"\(direction)\"/>\n"
                }
            }
            text += "    </method>\n"
        }
        for signal in signals {
            text += "    <signal name=\"\(signal.name)\">\n"
            for argument in signal.parameters {
                text += "      <arg name=\"\(argument.name)\" type=\"\(argument.type)\"/>\n"
            }
            text += "    </signal>\n"
        }
        for property in properties {
            let access = property.isWritable ? "readwrite" : "read"
            text += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>\n"
        }
        return text + "  </interface>\n"
    }
}
