/// What may stand in a log message.
///
/// A conformance composes a ``LogMessage`` from literals and from parts that are loggable themselves:
///
///     extension Order: Loggable {
///         // Safe: the number and the state are shown to every customer.
///         public var logMessage: LogMessage { "order \(number), \(state)" }
///     }
///
/// A ``LogMessage`` has no other way in, so no conformance can let a secret or an arbitrary `String` through. The one
/// escape is ``LoggableText/init(reviewed:unredacted:)``, whose uses are on a checked list. Each conformance says in a
/// line why it is safe.
public protocol Loggable {
    /// What the log shows.
    var logMessage: LogMessage { get }
}
