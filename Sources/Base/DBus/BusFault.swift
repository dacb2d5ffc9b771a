internal import CLatchkeyGLib
package import LatchkeyLog

/// An error of the bus: as it goes to a client, as a program sent it, or as GLib reports it.
package struct BusFault: Error, Sendable, Hashable {
    /// Its D-Bus name; GLib makes one for an error that no program sent.
    package let name: String
    /// For people. Nothing of an item is in it, and nothing that GLib or another program wrote.
    package let text: String
    /// The domain and the number of an error that GLib reported.
    package let domain: String
    package let number: Int
    /// The library that can't be loaded, if that is the error.
    package let library: LibraryFailure?

    package init(_ name: StaticString, _ text: String) {
        self.name = name.description
        self.text = text
        domain = ""
        number = 0
        library = nil
    }

    package init(_ failure: LibraryFailure) {
        (name, text, domain, number) = (StaticString.failed.description, failure.description, "", 0)
        library = failure
    }

    /// Whether GLib itself reports the error: for an invalid address, an address without a bus, or a time limit.
    package var isOfGLib: Bool { name.hasPrefix("org.gtk.GDBus.UnmappedGError") }

    /// An error that a call of GLib reported, without its text.
    init(adopting error: UnsafeMutablePointer<GError>) {
        defer { unsafe g_error_free(error) }
        let name = unsafe g_dbus_error_get_remote_error(error) ?? g_dbus_error_encode_gerror(error)
        defer { unsafe g_free(name) }
        self.name = unsafe name.map { unsafe String(cString: $0) } ?? ""
        text = ""
        domain = unsafe String(cString: g_quark_to_string(error.pointee.domain))
        number = unsafe Int(error.pointee.code)
        library = nil
    }
}

/// The names of errors that clients go by.
extension StaticString {
    package static var isLocked: StaticString { "org.freedesktop.Secret.Error.IsLocked" }
    package static var noSession: StaticString { "org.freedesktop.Secret.Error.NoSession" }
    package static var noSuchObject: StaticString { "org.freedesktop.Secret.Error.NoSuchObject" }
    package static var notSupported: StaticString { "org.freedesktop.DBus.Error.NotSupported" }
    package static var unknownObject: StaticString { "org.freedesktop.DBus.Error.UnknownObject" }
    package static var unknownInterface: StaticString { "org.freedesktop.DBus.Error.UnknownInterface" }
    package static var unknownMethod: StaticString { "org.freedesktop.DBus.Error.UnknownMethod" }
    package static var unknownProperty: StaticString { "org.freedesktop.DBus.Error.UnknownProperty" }
    package static var propertyReadOnly: StaticString { "org.freedesktop.DBus.Error.PropertyReadOnly" }
    package static var invalidArguments: StaticString { "org.freedesktop.DBus.Error.InvalidArgs" }
    package static var limitsExceeded: StaticString { "org.freedesktop.DBus.Error.LimitsExceeded" }
    package static var accessDenied: StaticString { "org.freedesktop.DBus.Error.AccessDenied" }
    package static var timeout: StaticString { "org.freedesktop.DBus.Error.Timeout" }
    package static var failed: StaticString { "org.freedesktop.DBus.Error.Failed" }
    package static var inputOutput: StaticString { "org.freedesktop.DBus.Error.IOError" }
}
