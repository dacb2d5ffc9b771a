internal import CLatchkeyGLib
package import LatchkeySecrets

/// A value on its way over the bus (GVariant).
///
/// A reader returns an empty value where the type is another than the reader says: check `is` first.
@safe package final class BusValue: @unchecked Sendable {
    // Sendable: a GVariant never changes and counts its references atomically.
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

    package static let none = tuple([])

    package static func string(_ text: String) -> BusValue { unsafe BusValue(adopting: g_variant_new_string(text)) }
    /// - Parameter path: a valid one.
    package static func path(_ path: String) -> BusValue { unsafe BusValue(adopting: g_variant_new_object_path(path)) }
    package static func boolean(_ value: Bool) -> BusValue {
        unsafe BusValue(adopting: g_variant_new_boolean(value ? 1 : 0))
    }
    package static func unsigned(_ value: UInt64) -> BusValue {
        unsafe BusValue(adopting: g_variant_new_uint64(guint64(value)))
    }
    package static func unsigned32(_ value: UInt32) -> BusValue {
        unsafe BusValue(adopting: g_variant_new_uint32(value))
    }
    /// A descriptor, by its place in the message's list.
    package static func handle(_ index: Int32) -> BusValue { unsafe BusValue(adopting: g_variant_new_handle(index)) }

    /// A value with its type (`v`).
    package static func boxed(_ value: BusValue) -> BusValue {
        unsafe value.withPointer { unsafe BusValue(adopting: g_variant_new_variant($0)) }
    }

    package static func tuple(_ parts: [BusValue]) -> BusValue {
        unsafe withPointers(parts) { unsafe BusValue(adopting: g_variant_new_tuple($0, UInt(parts.count))) }
    }

    /// - Parameter element: the type of the elements, for an empty array.
    package static func array(_ parts: [BusValue], of element: StaticString) -> BusValue {
        unsafe withPointers(parts) {
            unsafe BusValue(adopting: g_variant_new_array(busType(element), $0, UInt(parts.count)))
        }
    }

    package static func paths(_ paths: [String]) -> BusValue { array(paths.map { path($0) }, of: "o") }
    package static func strings(_ texts: [String]) -> BusValue { array(texts.map { string($0) }, of: "s") }

    /// A dictionary of strings (`a{ss}`).
    package static func dictionary(_ pairs: [(String, String)]) -> BusValue {
        array(pairs.map { entry(string($0), string($1)) }, of: "{ss}")
    }

    /// A dictionary of properties (`a{sv}`).
    package static func properties(_ pairs: [(String, BusValue)]) -> BusValue {
        array(pairs.map { entry(string($0), boxed($1)) }, of: "{sv}")
    }

    package static func entry(_ key: BusValue, _ value: BusValue) -> BusValue {
        unsafe key.withPointer { key in
            unsafe value.withPointer { unsafe BusValue(adopting: g_variant_new_dict_entry(key, $0)) }
        }
    }

    /// A copy of bytes that aren't secret, such as ciphertext (`ay`).
    package static func bytes(_ bytes: [UInt8]) -> BusValue {
        unsafe bytes.withUnsafeBytes {
            unsafe BusValue(adopting: g_variant_new_fixed_array(busType("y"), $0.baseAddress, UInt($0.count), 1))
        }
    }

    /// The bytes of a secret where they are, in guarded memory, which stays as long as the value (`ay`).
    ///
    /// GLib copies them when it writes the message, into a buffer that it frees once it is sent: memory that our
    /// programs overwrite when it is freed.
    package static func lending<Purpose>(_ secret: LentSecret<Purpose>) -> BusValue {
        guard secret.byteCount > 0 else { return bytes([]) }
        return unsafe BusValue(
            adopting: g_variant_new_from_data(
                busType("ay"), secret.lentBytes.baseAddress, UInt(secret.byteCount), 1,
                { unsafe Unmanaged<AnyObject>.fromOpaque($0!).release() },
                Unmanaged<AnyObject>.passRetained(secret).toOpaque()))
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

    package func `is`(_ type: StaticString) -> Bool {
        unsafe withPointer { unsafe g_variant_is_of_type($0, busType(type)) != 0 }
    }

    package var type: String { unsafe withPointer { unsafe String(cString: g_variant_get_type_string($0)) } }

    /// The size in memory. The size in a message differs, mostly by the padding.
    package var byteCount: Int { unsafe withPointer { unsafe Int(g_variant_get_size($0)) } }

    /// A part of a tuple or an array; an empty tuple for a missing part.
    package subscript(_ index: Int) -> BusValue { index >= 0 && index < count ? part(index) : .none }

    private func part(_ index: Int) -> BusValue {
        unsafe withPointer { unsafe BusValue(adopting: g_variant_get_child_value($0, UInt(index))) }
    }

    package var count: Int {
        unsafe withPointer { unsafe g_variant_is_container($0) == 0 ? 0 : Int(g_variant_n_children($0)) }
    }
    package var children: [BusValue] { (0..<count).map { part($0) } }

    /// A string or an object path.
    package var text: String {
        guard `is`("s") || `is`("o") else { return "" }
        return unsafe withPointer { unsafe String(cString: g_variant_get_string($0, nil)) }
    }
    package var boolean: Bool { `is`("b") ? unsafe withPointer { unsafe g_variant_get_boolean($0) != 0 } : false }
    package var unsigned: UInt64 { `is`("t") ? unsafe withPointer { unsafe UInt64(g_variant_get_uint64($0)) } : 0 }
    package var unsigned32: UInt32 { `is`("u") ? unsafe withPointer { unsafe g_variant_get_uint32($0) } : 0 }
    /// The value in a variant (`v`).
    package var unboxed: BusValue {
        guard `is`("v") else { return .none }
        return unsafe withPointer { unsafe BusValue(adopting: g_variant_get_variant($0)) }
    }
    package var texts: [String] { children.map(\.text) }
    package var dictionary: [String: String] {
        Dictionary(children.map { ($0[0].text, $0[1].text) }, uniquingKeysWith: { _, last in last })
    }

    /// A value of this type out of a dictionary of properties, or `nil`.
    package func property(_ name: StaticString, _ type: StaticString) -> BusValue? {
        guard `is`("a{sv}") else { return nil }
        return unsafe withPointer {
            unsafe g_variant_lookup_value($0, name.description, busType(type)).map {
                unsafe BusValue(adopting: $0)
            }
        }
    }

    /// Lends the bytes of an array of bytes (`ay`), where GLib has them.
    package func withBytes<Result: ~Copyable>(_ body: (Span<UInt8>) -> Result) -> Result {
        withExtendedLifetime(self) {
            var count: UInt = 0
            let base = `is`("ay") ? unsafe g_variant_get_fixed_array(pointer, &count, 1) : nil
            let bytes = unsafe UnsafeRawBufferPointer(start: base, count: Int(count))
            return unsafe body(Span<UInt8>(_unsafeBytes: bytes))
        }
    }

    /// A copy of bytes that aren't secret.
    package var publicBytes: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

/// A D-Bus type, such as `a{ss}`, which GLib reads right from the text.
func busType(_ text: StaticString) -> OpaquePointer {
    unsafe OpaquePointer(text.utf8Start)
}
