internal import CLatchkeyGLib

/// What the Secret Service store is measured against: libsecret's own simple calls, as a program in C makes them.
@safe struct BareLibsecret {
    struct Failure: Error {}

    private let attributes: OpaquePointer

    init(service: String, account: String) throws {
        guard latchkey_libsecret_load().outcome == LATCHKEY_LOADED else { throw Failure() }
        unsafe attributes = g_hash_table_new_full(
            g_str_hash, g_str_equal, { unsafe g_free($0) }, { unsafe g_free($0) })
        for (name, value) in [("service", service), ("username", account)] {
            unsafe g_hash_table_insert(attributes, g_strdup(name), g_strdup(value))
        }
    }

    /// secret_password_lookupv_sync(3)
    func read() throws -> Int {
        guard
            let value = unsafe secret_service_lookup_sync(
                nil, nil, attributes, nil, nil)
        else { throw Failure() }
        defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
        var count: gsize = 0
        _ = unsafe secret_value_get(value, &count)
        return Int(count)
    }

    /// secret_service_store_sync(3)
    func save(_ text: String) throws {
        let value = unsafe secret_value_new(text, gssize(text.utf8.count), "text/plain")
        defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
        let stored = unsafe secret_service_store_sync(
            nil, nil, attributes, "default", "benchmark", value, nil, nil)
        guard stored != 0 else { throw Failure() }
    }
}
