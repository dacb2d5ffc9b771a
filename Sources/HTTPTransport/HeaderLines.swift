internal import CCurl
internal import Secrets

/// The header of a request as libcurl wants it: a linked list of C strings, here in guarded memory.
///
/// `curl_slist_append` would copy each line to the heap. libcurl reads the list where it is, so the list is built by hand
/// over one guarded block. What libcurl puts together from it is in libcurl's own memory, which is overwritten when it is
/// freed (CCurl/shim.h).
@safe struct HeaderLines: ~Copyable {
    private let text: Secret<MessageBody>
    private let nodes: UnsafeMutableBufferPointer<curl_slist>

    /// The first node. Valid as long as this value.
    var first: UnsafeRawPointer? { unsafe UnsafeRawPointer(nodes.baseAddress) }

    init(
        fields: [HTTPField], authorization: borrowing Secret<MessageBody>?, proof: borrowing Secret<MessageBody>?,
        withoutDefaults: [StaticString]
    ) throws(SecretBuilder.LimitExceeded) {
        var lines = SecretBuilder(capacity: 1008)
        var starts: [Int] = []
        for field in fields {
            starts.append(lines.byteCount)
            // libcurl's spelling of a field with an empty value is `Name;`.
            try lines.append(publicText: field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            try lines.append(0)
        }
        // libcurl's spelling for "don't send what you would add yourself" is `Name:`.
        for name in withoutDefaults {
            starts.append(lines.byteCount)
            try lines.append(publicText: "\(name):")
            try lines.append(0)
        }
        switch authorization {
        case .some(let value):
            starts.append(lines.byteCount)
            try lines.append(publicText: "Authorization: ")
            try lines.append(value)
            try lines.append(0)
        case .none: break
        }
        switch proof {
        case .some(let value):
            starts.append(lines.byteCount)
            try lines.append(publicText: "DPoP: ")
            try lines.append(value)
            try lines.append(0)
        case .none: break
        }
        text = lines.finish(as: MessageBody.self)
        unsafe nodes = .allocate(capacity: starts.count)
        let base = text.withExposedBytes { bytes in
            // The address leaves the closure: the block stays where it is until this value, its owner, dies.
            unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
        for (index, start) in starts.enumerated() {
            let data = unsafe UnsafeMutablePointer<CChar>(bitPattern: base + UInt(start))
            let next = unsafe index + 1 < starts.count ? nodes.baseAddress! + index + 1 : nil
            unsafe nodes.initializeElement(at: index, to: curl_slist(data: data, next: next))
        }
    }

    /// Puts these lines behind others, which mustn't be empty and mustn't be read any more when these are gone.
    func follow(_ others: borrowing HeaderLines) {
        unsafe others.nodes[others.nodes.count - 1].next = nodes.baseAddress
    }

    deinit {
        unsafe nodes.deallocate()
    }
}
