internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets
internal import LatchkeySystem

/// org.freedesktop.impl.portal.Secret: a key for each sandboxed application, with which libsecret seals a file of its own
/// (XDG Desktop Portal, "Secret portal backend").
///
/// The key is an item of the default collection, as gnome-keyring has it, so that keys come along with the items. It is
/// no more secret than other items to what is on the bus.
extension Keyring {
    static let portalPath = "/org/freedesktop/portal/desktop"
    private static let keyByteCount = 64
    /// libsecret before 0.21.4 listens for the answer once it knows that it asked, and waits for ever when the answer was
    /// there first. Its key is in the pipe by then, so an application starts this much later.
    private static let answerDelay = Duration.milliseconds(100)

    func retrieveSecret(_ call: BusCall) async throws(BusFault) -> BusValue {
        let application = call[1].text
        guard (1...255).contains(application.utf8.count) else { throw .invalid("there is no application's id") }
        guard let descriptor = call.message.descriptor else { throw .invalid("there is no descriptor") }
        defer { Glibc.close(descriptor) }
        let key = try await portalKey(of: application)
        var sink = PortalSink(descriptor: descriptor)
        let failure = failure(SystemErrorNumber.self, of: try key.pour(into: &sink))
        try? await Task.sleep(for: Self.answerDelay)
        // 0: done; 2: ended in another way than by the person (Request::Response).
        return .tuple([.unsigned32(failure == nil ? 0 : 2), .properties([])])
    }

    private func portalKey(of application: String) async throws(BusFault) -> Secret<ItemContent> {
        let name = collection(alias: "default") ?? Self.firstCollection.name
        let store = try await openStore(of: name)
        guard
            let attributes = ItemAttributes([
                .init(name: "app_id", value: application),
                .init(name: "xdg:schema", value: "org.freedesktop.portal.Secret"),
            ])
        else { throw .invalid("the application's id can't be kept") }
        let found = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.search(attributes, in: name, deadline: deadline)
        }
        if let item = found.first {
            let present = try await use(store) { (store, deadline) async throws(StoreError) in
                try await store.read(item.id, deadline: deadline)
            }
            if let present { return present.takeSecret() }
        }
        let secret: Secret<ItemContent> = try mapError(
            { (_: RandomSourceError) in BusFault(.failed, "the kernel refused random octets") },
            of: .random(byteCount: Self.keyByteCount))
        let creation = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.create(
                secret, contentType: "application/octet-stream", attributes,
                label: "Application key for \(application)", in: name, replacing: false, deadline: deadline)
        }
        await announceCreation(creation.item)
        return secret
    }
}

/// Writes a key to the pipe of the application that it is for. A pipe that has no room isn't waited for.
private struct PortalSink: SecretSink {
    static var reason: StaticString { "a sandboxed application asked for its own key, on a pipe" }
    let descriptor: Int32

    mutating func receive(_ bytes: Span<UInt8>) throws(SystemErrorNumber) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            throw SystemErrorNumber(EINVAL)
        }
        // The caller's own opening may be one that waits: this is another one of the same pipe.
        let pipe = unsafe open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard pipe >= 0 else { throw SystemErrorNumber(errno) }
        defer { close(pipe) }
        let count = unsafe bytes.withUnsafeBytes { unsafe write(pipe, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw SystemErrorNumber(count < 0 ? errno : EAGAIN) }
    }
}
