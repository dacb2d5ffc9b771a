internal import CLatchkeyGLib

/// A message that came over the bus (GDBusMessage).
package final class BusMessage: Sendable {
    // Sendable: a received message doesn't change.
    private let object: ObjectReference

    init(retaining pointer: OpaquePointer) {
        unsafe object = ObjectReference(retaining: UnsafeMutableRawPointer(pointer))
    }

    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe object.withPointer { unsafe body(OpaquePointer($0)) }
    }

    private func text(_ get: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        unsafe withPointer { unsafe get($0).map { unsafe String(cString: $0) } }
    }

    var isCall: Bool {
        unsafe withPointer { unsafe g_dbus_message_get_message_type($0) == G_DBUS_MESSAGE_TYPE_METHOD_CALL }
    }
    package var isSignal: Bool {
        unsafe withPointer { unsafe g_dbus_message_get_message_type($0) == G_DBUS_MESSAGE_TYPE_SIGNAL }
    }
    var wantsReply: Bool {
        unsafe withPointer {
            unsafe g_dbus_message_get_flags($0).rawValue & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED.rawValue == 0
        }
    }
    package var sender: String? { unsafe text { unsafe g_dbus_message_get_sender($0) } }
    var path: String? { unsafe text { unsafe g_dbus_message_get_path($0) } }
    var interface: String? { unsafe text { unsafe g_dbus_message_get_interface($0) } }
    package var member: String? { unsafe text { unsafe g_dbus_message_get_member($0) } }
    package var descriptorCount: Int {
        unsafe withPointer { message in
            unsafe g_dbus_message_get_unix_fd_list(message).map { unsafe Int(g_unix_fd_list_get_length($0)) } ?? 0
        }
    }
    /// A duplicate of the first descriptor that came along.
    package var descriptor: Int32? {
        unsafe withPointer { message in
            guard let list = unsafe g_dbus_message_get_unix_fd_list(message) else { return nil }
            let descriptor = unsafe g_unix_fd_list_get(list, 0, nil)
            return descriptor >= 0 ? descriptor : nil
        }
    }
    /// Its arguments, a tuple; of none, an empty one.
    package var arguments: BusValue {
        unsafe withPointer { unsafe g_dbus_message_get_body($0).map { unsafe BusValue(retaining: $0) } } ?? .none
    }
}

/// A method call, as a value.
package struct BusCall: Sendable {
    /// The unique name of the connection that calls.
    package let sender: String
    package let path: String
    package let interface: String?
    package let member: String
    package let arguments: BusValue
    package let message: BusMessage

    package subscript(_ index: Int) -> BusValue { arguments[index] }

    /// Returns `nil` unless the message is a call of another connection.
    init?(_ message: BusMessage) {
        guard message.isCall, let sender = message.sender, let path = message.path, let member = message.member else {
            return nil
        }
        self.sender = sender
        self.path = path
        self.interface = message.interface
        self.member = member
        self.arguments = message.arguments
        self.message = message
    }
}
