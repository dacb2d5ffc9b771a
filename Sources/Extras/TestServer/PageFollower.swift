package import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem
public import LatchkeySignIn

extension UserAgent {
    /// A simulated person who consents: follows redirects and presses the first button of the first form.
    ///
    /// Like a browser, it keeps addresses in ordinary memory. Throws `.unavailable(.pageFailed)` if a page can't be
    /// fetched or shows an error, and after twelve pages.
    ///
    /// It also gives up at the page for a response with another state, so the sign-in ends with `.stateMismatch`. With
    /// a real browser the sign-in would continue, because another person may have sent that response.
    public static func consenting() -> UserAgent { UserAgent(following: .consent) }

    /// The person of a test, who presses the form's last button and so refuses. There must be a form: the server's
    /// `consent` is `.page`.
    public static func refusing() -> UserAgent { UserAgent(following: .refuse) }

    /// The person of a test who confirms on another device, at the address that the server gives (RFC 8628). The server
    /// needs `offersDeviceGrant`.
    public static func consentingElsewhere() -> UserAgent { .device(PersonElsewhere()) }

    private init(following decision: PageFollower.Decision) {
        let person = PageFollower(http: CurlTransport(), decision: decision)
        self = .browser { link throws(UserAgentError) in try await person.follow(link) }
    }
}

private struct PersonElsewhere: DevicePrompt {
    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError) {
        let code = device.userCode.withExposedBytes { $0.publicText() } ?? ""
        let link = device.address.text + "?user_code=" + PercentEncoding.encode(code)
        try await PageFollower(http: CurlTransport()).follow(link)
    }

    func finish(_ outcome: SignInOutcome) async {}
}

/// Stands in for a browser and the person before it, for tests and demos: follows redirects, and presses a button on
/// the first form it is shown.
///
/// Like a browser, it keeps addresses in ordinary memory.
package struct PageFollower: Sendable {
    /// The person's action on the consent page.
    package enum Decision: Sendable, Hashable {
        /// Presses the first button.
        case consent
        /// Presses the last button.
        case refuse
    }

    private let http: any HTTPTransport
    private let decision: Decision

    static let maximumStepCount = 12

    package init(http: any HTTPTransport, decision: Decision = .consent) {
        self.http = http
        self.decision = decision
    }

    /// Goes from page to page until there is neither a redirect nor a form. Throws `.unavailable(.pageFailed)` when a
    /// page can't be fetched or says that something is wrong, or the way is longer than twelve pages.
    package func follow(_ link: String) async throws(UserAgentError) {
        var url = try Self.parse(link)
        var form: String?
        for _ in 0..<Self.maximumStepCount {
            let response = try await fetch(url, form: form)
            form = nil
            if (300...399).contains(response.status), let location = response.field("Location") {
                url = try Self.parse(Self.resolve(location, against: url))
                continue
            }
            guard let page = response.body.withExposedBytes({ $0.publicText() }).flatMap(ConsentForm.init) else {
                // A person would stop here, and the sign-in would never get a response.
                if response.status >= 400 { throw .unavailable(.pageFailed) }
                return
            }
            form = page.submission(pressing: decision == .consent ? page.buttons.first : page.buttons.last)
            url = try Self.parse(Self.resolve(page.action, against: url))
        }
        throw .unavailable(.pageFailed)
    }

    private func fetch(_ url: HTTPURL, form: String?) async throws(UserAgentError) -> GuardedResponse {
        do throws(TransportError) {
            guard let form else { return try await http.send(GuardedRequest(.get, url)) }
            let body = Array(form.utf8)
            let type = HeaderField("Content-Type", "application/x-www-form-urlencoded")
            return try await http.send(
                GuardedRequest(.post, url, fields: type.map { [$0] } ?? [], body: Secret(copying: body.span)))
        } catch {
            throw error.code == .cancelled ? .cancelled : .unavailable(.pageFailed)
        }
    }

    private static func parse(_ text: String) throws(UserAgentError) -> HTTPURL {
        guard let url = try? HTTPURL(text) else { throw .unavailable(.pageFailed) }
        return url
    }

    /// Absolute addresses, and paths with a slash in front: all that servers of tests use.
    private static func resolve(_ reference: String, against base: HTTPURL) -> String {
        if reference.isEmpty { return base.text }
        return reference.hasPrefix("/") ? base.origin + reference : reference
    }
}

/// The first form of an HTML page, read as far as a plain page needs.
struct ConsentForm: Sendable {
    let action: String
    private(set) var hidden: [(name: String, value: String)] = []
    private(set) var buttons: [(name: String, value: String)] = []

    init?(html: String) {
        var tags = html.split(separator: "<").dropFirst().map { $0.prefix { $0 != ">" } }[...]
        guard let start = tags.firstIndex(where: { $0.lowercased().hasPrefix("form") }) else { return nil }
        action = Self.attribute("action", of: tags[start]) ?? ""
        tags = tags[start...]
        for tag in tags.dropFirst() {
            if tag.lowercased().hasPrefix("/form") { break }
            let isButton = tag.lowercased().hasPrefix("button")
            guard isButton || tag.lowercased().hasPrefix("input") else { continue }
            let field = (
                name: Self.attribute("name", of: tag) ?? "", value: Self.attribute("value", of: tag) ?? ""
            )
            if isButton || Self.attribute("type", of: tag) == "submit" {
                buttons.append(field)
            } else if !field.name.isEmpty {
                hidden.append(field)
            }
        }
    }

    /// The form's fields and the button's, as application/x-www-form-urlencoded.
    func submission(pressing button: (name: String, value: String)?) -> String {
        let fields = hidden + (button.map { $0.name.isEmpty ? [] : [$0] } ?? [])
        return fields.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(
            separator: "&")
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        var rest = tag
        while let equals = rest.firstIndex(of: "=") {
            let found = rest[..<equals].split { $0 == " " || $0 == "\n" || $0 == "\t" }.last
            let quote = rest[rest.index(after: equals)...].first
            guard let quote, quote == "\"" || quote == "'" else { return nil }
            let value = rest[equals...].dropFirst(2).prefix { $0 != quote }
            if found?.lowercased() == name { return unescape(String(value)) }
            rest = rest[value.endIndex...].dropFirst()
        }
        return nil
    }

    private static func unescape(_ text: String) -> String {
        // `&amp;` last, so that `&amp;lt;` is `&lt;`.
        text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}
