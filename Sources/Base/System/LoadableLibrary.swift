internal import CLatchkeyLoad

/// A C library that is loaded when it is first needed, by the one Swift module that calls it.
///
/// The numbers are those of `latchkey_library` in CLatchkeyLoad, which loads them.
package enum LoadableLibrary: UInt32, Sendable, Hashable, CaseIterable {
    case crypto, curl, microHTTPD, glib, libsecret, libpq

    /// The package of Debian 12 that contains the library.
    package var debianPackage: StaticString {
        switch self {
        case .crypto: "libssl3"
        case .curl: "libcurl4"
        case .microHTTPD: "libmicrohttpd12"
        case .glib: "libglib2.0-0"
        case .libsecret: "libsecret-1-0"
        case .libpq: "libpq5"
        }
    }

    /// The name of the library's file, such as `libcurl.so.4`.
    package var fileName: String { unsafe String(cString: latchkey_library_file(.init(rawValue: rawValue))) }

    /// The library that this one loads as well.
    private var dependency: LoadableLibrary? {
        switch self {
        case .curl, .libpq: .crypto
        case .libsecret: .glib
        case .crypto, .microHTTPD, .glib: nil
        }
    }

    /// Permits only these libraries, in the whole process: from now on, every attempt to use another library throws
    /// `notPermitted`. Without this call all are permitted.
    ///
    /// - Parameter libraries: the libraries that this process may load. Their own dependencies are included.
    package static func permit(only libraries: [LoadableLibrary]) {
        latchkey_permit_libraries(libraries.reduce(0) { $0 | $1.bit | ($1.dependency?.bit ?? 0) })
    }

    private var bit: UInt32 { 1 << rawValue }
}
