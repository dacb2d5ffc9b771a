internal import LatchkeySystem

/// Quotes a string for JSON (RFC 8259 section 7).
package enum JSONText {
    /// Also escapes what `InertText` makes inert, so that JSON on a terminal does nothing there.
    package static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where InertText.mustEscape(scalar):
                for unit in String(scalar).utf16 { result += "\\u" + Hexadecimal.encode(unit) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
