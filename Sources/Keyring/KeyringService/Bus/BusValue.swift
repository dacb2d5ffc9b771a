internal import CLatchkeyGIO
internal import LatchkeyCredentials
internal import LatchkeySecrets

/// A value on its way over the bus (GVariant).
///
/// A reader returns an empty value where the type is another than the reader says: check `is` first.
@safe final class BusValue: @unchecked Sendable {
    // Sendable: a GVariant never changes, and its references are counted atomically.
    private let pointer: OpaquePointer

    /// Takes over a reference, or a value that was just made and has no owner yet.
    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = g_variant_take_ref(pointer)
    }

    convenience init(retaining pointer: OpaquePointer) {
        unsafe self.init(adopting: g_variant_ref(pointer))
    }

    deinit {
        unsafe g_variant_unref(pointer)
    }

    /// Lends the pointer; the value stays alive until `body` returns.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(self) { unsafe body(pointer) }
    }

    // MARK: - Making

    static let none = tuple([])

    static func string(_ text: String) -> BusValue { unsafe BusValue(adopting: g_variant_new_string(text)) }
    /// - Parameter path: a valid one.
    static func path(_ path: String) -> BusValue { unsafe BusValue(adopting: g_variant_new_object_path(path)) }
    static func boolean(_ value: Bool) -> BusValue { unsafe BusValue(adopting: g_variant_new_boolean(value ? 1 : 0)) }
    static func unsigned(_ value: UInt64) -> BusValue {
        unsafe BusValue(adopting: g_variant_new_uint64(guint64(value)))
    }
    static func unsigned32(_ value: UInt32) -> BusValue { unsafe BusValue(adopting: g_variant_new_uint32(value)) }
    /// A descriptor, by its place in the message's list.
    static func handle(_ index: Int32) -> BusValue { unsafe BusValue(adopting: g_variant_new_handle(index)) }

    /// A value with its type (`v`).
    static func boxed(_ value: BusValue) -> BusValue {
        unsafe value.withPointer { unsafe BusValue(adopting: g_variant_new_variant($0)) }
    }

    static func tuple(_ parts: [BusValue]) -> BusValue {
        unsafe withPointers(parts) { unsafe BusValue(adopting: g_variant_new_tuple($0, UInt(parts.count))) }
    }

    /// - Parameter element: the type of the elements, for an empty array.
    static func array(_ parts: [BusValue], of element: StaticString) -> BusValue {
        unsafe withPointers(parts) {
            unsafe BusValue(adopting: g_variant_new_array(busType(element), $0, UInt(parts.count)))
        }
    }

    static func paths(_ paths: [String]) -> BusValue { array(paths.map { path($0) }, of: "o") }
    static func strings(_ texts: [String]) -> BusValue { array(texts.map { string($0) }, of: "s") }

    static func dictionary(_ attributes: ItemAttributes) -> BusValue {
        array(attributes.all.map { entry(string($0.name), string($0.value)) }, of: "{ss}")
    }

    /// A dictionary of properties (`a{sv}`).
    static func properties(_ pairs: [(String, BusValue)]) -> BusValue {
        array(pairs.map { entry(string($0), boxed($1)) }, of: "{sv}")
    }

    static func entry(_ key: BusValue, _ value: BusValue) -> BusValue {
        unsafe key.withPointer { key in
            unsafe value.withPointer { unsafe BusValue(adopting: g_variant_new_dict_entry(key, $0)) }
        }
    }

    /// A copy of bytes that are no secret, such as what is encrypted (`ay`).
    static func bytes(_ bytes: [UInt8]) -> BusValue {
        unsafe bytes.withUnsafeBytes {
            unsafe BusValue(adopting: g_variant_new_fixed_array(busType("y"), $0.baseAddress, UInt($0.count), 1))
        }
    }

    /// The bytes of a secret where they are, in guarded memory, which stays as long as the value (`ay`).
    ///
    /// GLib copies them when it writes the message, into a buffer that it frees once it is sent: memory that our
    /// programs overwrite when it is freed.
    static func lending(_ secret: LentSecret<ItemContent>) -> BusValue {
        guard secret.byteCount > 0 else { return bytes([]) }
        return unsafe BusValue(
            adopting: g_variant_new_from_data(
                busType("ay"), secret.lentBytes.baseAddress, UInt(secret.byteCount), 1,
                { unsafe Unmanaged<LentSecret<ItemContent>>.fromOpaque($0!).release() },
                Unmanaged.passRetained(secret).toOpaque()))
    }

    private static func withPointers(
        _ parts: [BusValue], _ body: (UnsafePointer<OpaquePointer?>) -> BusValue
    ) -> BusValue {
        withExtendedLifetime(parts) {
            let pointers: [OpaquePointer?] = unsafe parts.map { unsafe $0.pointer }
            return unsafe pointers.withUnsafeBufferPointer { buffer in
                var none: OpaquePointer?
                return unsafe withUnsafePointer(to: &none) { unsafe body(buffer.baseAddress ?? $0) }
            }
        }
    }

    // MARK: - Reading

    func `is`(_ type: StaticString) -> Bool {
        unsafe withPointer { unsafe g_variant_is_of_type($0, busType(type)) != 0 }
    }

    /// What it takes in a message.
    var byteCount: Int { unsafe withPointer { unsafe Int(g_variant_get_size($0)) } }

    /// A part of a tuple or an array; an empty tuple where there is no such part.
    subscript(_ index: Int) -> BusValue {
        guard index >= 0, index < count else { return .none }
        return unsafe withPointer { unsafe BusValue(adopting: g_variant_get_child_value($0, UInt(index))) }
    }

    var count: Int {
        unsafe withPointer { unsafe g_variant_is_container($0) == 0 ? 0 : Int(g_variant_n_children($0)) }
    }
    var children: [BusValue] { (0..<count).map { self[$0] } }

    /// A string or an object path.
    var text: String {
        guard `is`("s") || `is`("o") else { return "" }
        return unsafe withPointer { unsafe String(cString: g_variant_get_string($0, nil)) }
    }
    var boolean: Bool { `is`("b") ? unsafe withPointer { unsafe g_variant_get_boolean($0) != 0 } : false }
    var unsigned32: UInt32 { `is`("u") ? unsafe withPointer { unsafe g_variant_get_uint32($0) } : 0 }
    /// What a variant (`v`) holds.
    var unboxed: BusValue {
        guard `is`("v") else { return .none }
        return unsafe withPointer { unsafe BusValue(adopting: g_variant_get_variant($0)) }
    }
    var texts: [String] { children.map(\.text) }

    /// A value of this type out of a dictionary of properties, or `nil`.
    func property(_ name: StaticString, _ type: StaticString) -> BusValue? {
        guard `is`("a{sv}") else { return nil }
        return unsafe withPointer {
            unsafe g_variant_lookup_value($0, name.description, busType(type)).map {
                unsafe BusValue(adopting: $0)
            }
        }
    }

    /// Lends the bytes of an array of bytes (`ay`), where GLib has them.
    func withBytes<Result: ~Copyable>(_ body: (Span<UInt8>) -> Result) -> Result {
        withExtendedLifetime(self) {
            var count: UInt = 0
            let base = `is`("ay") ? unsafe g_variant_get_fixed_array(pointer, &count, 1) : nil
            let bytes = unsafe UnsafeRawBufferPointer(start: base, count: Int(count))
            return unsafe body(Span<UInt8>(_unsafeBytes: bytes))
        }
    }

    /// A copy of bytes that are no secret.
    var publicBytes: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }

    /// The attributes of a dictionary of strings (`a{ss}`), or `nil` for such as no item may have.
    var attributes: ItemAttributes? {
        // Counted before anything is copied.
        guard `is`("a{ss}"), count <= ItemAttributes.maximumCount, byteCount <= 2 * ItemAttributes.maximumByteCount
        else { return nil }
        return ItemAttributes(children.map { ItemAttributes.Attribute(name: $0[0].text, value: $0[1].text) })
    }
}

/// A D-Bus type, such as `a{ss}`, which GLib reads right from the text.
func busType(_ text: StaticString) -> OpaquePointer {
    unsafe OpaquePointer(text.utf8Start)
}
