/// Whether a program offers the Secret Service, as the session bus knows it.
package enum SecretServicePresence: Sendable, Hashable {
    /// A program offers it now.
    case running
    /// None does, and the bus starts one for whoever calls it.
    case startable
    case absent
}
