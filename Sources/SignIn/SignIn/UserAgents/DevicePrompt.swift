public import LatchkeyOAuth

/// Shows a person the code to enter on another device, and for how long it is good (RFC 8628 section 3.3).
public protocol DevicePrompt: Sendable {
    /// Shows code and address. Throws `.unavailable` when there is nobody to show them to.
    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError)

    /// Tells how it ended, and stops whatever `show` began. More than once has no effect.
    func finish(_ outcome: SignInOutcome) async
}
