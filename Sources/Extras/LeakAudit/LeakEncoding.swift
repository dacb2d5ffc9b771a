/// How a secret looks where it was found.
public enum LeakEncoding: Sendable, Hashable, CaseIterable {
    /// Byte for byte.
    case plain
    /// `%2F` for what a URL can't hold (RFC 3986 section 2.1), in either case.
    case percentEncoded
    /// `%2F`, and `+` for a space (application/x-www-form-urlencoded).
    case formEncoded
    /// `%41` for every byte.
    case fullyPercentEncoded
    /// base64 (RFC 4648 section 4), wherever in the encoded text the secret begins: `Authorization: Basic`.
    case base64
    /// base64url (RFC 4648 section 5), wherever in the encoded text the secret begins.
    case base64URL
    /// Two hexadecimal digits a byte, in either case.
    case hexadecimal
    /// Inside a JSON string (RFC 8259 section 7).
    case jsonEscaped
    /// Inside HTML.
    case htmlEscaped
    /// UTF-16, in either byte order.
    case utf16
    /// Back to front.
    case reversed
    /// A printed array of bytes: `[104, 117, 110]`.
    case byteList
    /// Plain or in another encoding, with line breaks in between.
    case splitOverLines

    /// A short name for people, such as `base64url`.
    public var name: StaticString {
        switch self {
        case .plain: "plain"
        case .percentEncoded: "percent-encoded"
        case .formEncoded: "form-encoded"
        case .fullyPercentEncoded: "percent-encoded byte by byte"
        case .base64: "base64"
        case .base64URL: "base64url"
        case .hexadecimal: "hexadecimal"
        case .jsonEscaped: "JSON-escaped"
        case .htmlEscaped: "HTML-escaped"
        case .utf16: "UTF-16"
        case .reversed: "reversed"
        case .byteList: "a list of bytes"
        case .splitOverLines: "split over lines"
        }
    }
}
