internal import CLatchkeyCurl
internal import LatchkeySecrets

/// The header of a request as libcurl wants it: a linked list of C strings, here in guarded memory.
///
/// `curl_slist_append` would copy each line to the heap. libcurl reads the list in place, so this type builds the list
/// over one guarded block. libcurl's own copy of the header is overwritten when libcurl frees it (CLatchkeyCurl).
@safe struct HeaderLines: ~Copyable {
    private let text: LentSecret<MessageBody>
    private let nodes: UnsafeMutableBufferPointer<curl_slist>

    /// The first node. Valid as long as this value.
    var first: UnsafeRawPointer? { unsafe UnsafeRawPointer(nodes.baseAddress) }

    init(
        fields: [HeaderField], authorization: borrowing Secret<MessageBody>?, proof: borrowing Secret<MessageBody>?,
        withoutDefaults: [StaticString]
    ) throws(SecretBuilder.LimitExceeded) {
        var lines = SecretBuilder(capacity: 1008)
        var starts: [Int] = []
        for field in fields {
            starts.append(lines.byteCount)
            // libcurl's spelling of a field with an empty or blank value is `Name;`.
            let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            try lines.append(publicText: isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
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
        text = LentSecret(lines.finish(as: MessageBody.self))
        unsafe nodes = .allocate(capacity: starts.count)
        // libcurl only reads them.
        let base = unsafe UnsafeMutableRawPointer(mutating: text.lentBytes.baseAddress)
        for (index, start) in starts.enumerated() {
            let data = unsafe base.map { unsafe ($0 + start).assumingMemoryBound(to: CChar.self) }
            let next = unsafe index + 1 < starts.count ? nodes.baseAddress! + index + 1 : nil
            unsafe nodes.initializeElement(at: index, to: curl_slist(data: data, next: next))
        }
    }

    deinit {
        unsafe nodes.deallocate()
    }
}
