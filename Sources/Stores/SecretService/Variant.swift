internal import CLatchkeyLibsecret

/// A value on its way over the bus (GVariant).
@safe final class Variant: @unchecked Sendable {
    // Sendable: a GVariant never changes, and its references are counted atomically.
    private let pointer: OpaquePointer

    /// Takes over a reference, or a value that was just made and has no owner yet.
    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = g_variant_take_ref(pointer)
    }

    deinit {
        unsafe g_variant_unref(pointer)
    }

    /// Lends the pointer; the value stays alive until `body` returns.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(self) { unsafe body(pointer) }
    }

    // MARK: - Making

    static func string(_ text: String) -> Variant { unsafe Variant(adopting: g_variant_new_string(text)) }
    static func path(_ path: String) -> Variant { unsafe Variant(adopting: g_variant_new_object_path(path)) }
    static func boolean(_ value: Bool) -> Variant { unsafe Variant(adopting: g_variant_new_boolean(value ? 1 : 0)) }

    /// A value with its type (`v`).
    static func boxed(_ value: Variant) -> Variant {
        unsafe value.withPointer { unsafe Variant(adopting: g_variant_new_variant($0)) }
    }

    static func tuple(_ parts: [Variant]) -> Variant {
        unsafe withPointers(parts) { unsafe Variant(adopting: g_variant_new_tuple($0, UInt(parts.count))) }
    }

    /// - Parameter element: the type of the elements, for an empty array.
    static func array(_ parts: [Variant], of element: StaticString) -> Variant {
        unsafe withPointers(parts) {
            unsafe Variant(adopting: g_variant_new_array(variantType(element), $0, UInt(parts.count)))
        }
    }

    static func paths(_ paths: [String]) -> Variant { array(paths.map { path($0) }, of: "o") }

    /// A dictionary of strings (`a{ss}`).
    static func strings(_ pairs: [(String, String)]) -> Variant {
        array(pairs.map { entry($0, string($1)) }, of: "{ss}")
    }

    /// A dictionary of properties (`a{sv}`).
    static func properties(_ pairs: [(String, Variant)]) -> Variant {
        array(pairs.map { entry($0, boxed($1)) }, of: "{sv}")
    }

    private static func entry(_ name: String, _ value: Variant) -> Variant {
        unsafe string(name).withPointer { name in
            unsafe value.withPointer { unsafe Variant(adopting: g_variant_new_dict_entry(name, $0)) }
        }
    }

    private static func withPointers(
        _ parts: [Variant], _ body: (UnsafePointer<OpaquePointer?>) -> Variant
    ) -> Variant {
        withExtendedLifetime(parts) {
            let pointers: [OpaquePointer?] = unsafe parts.map { unsafe $0.pointer }
            return unsafe pointers.withUnsafeBufferPointer { buffer in
                var none: OpaquePointer?
                return unsafe withUnsafePointer(to: &none) { unsafe body(buffer.baseAddress ?? $0) }
            }
        }
    }

    // MARK: - Reading
    // GDBus has checked the type of each reply, so a reader that doesn't fit it is a mistake of ours.

    func `is`(_ type: StaticString) -> Bool {
        unsafe withPointer { unsafe g_variant_is_of_type($0, variantType(type)) != 0 }
    }

    subscript(_ index: Int) -> Variant {
        unsafe withPointer { unsafe Variant(adopting: g_variant_get_child_value($0, UInt(index))) }
    }

    var children: [Variant] {
        let count = unsafe withPointer { unsafe Int(g_variant_n_children($0)) }
        return (0..<count).map { self[$0] }
    }

    /// A string or an object path.
    var text: String { unsafe withPointer { unsafe String(cString: g_variant_get_string($0, nil)) } }
    var unsigned: UInt64 { unsafe withPointer { unsafe UInt64(g_variant_get_uint64($0)) } }
    var unsigned32: UInt32 { unsafe withPointer { unsafe g_variant_get_uint32($0) } }
    var boolean: Bool { unsafe withPointer { unsafe g_variant_get_boolean($0) != 0 } }
    /// What a variant (`v`) holds.
    var unboxed: Variant { unsafe withPointer { unsafe Variant(adopting: g_variant_get_variant($0)) } }
    var texts: [String] { children.map(\.text) }
    var dictionary: [String: String] {
        Dictionary(children.map { ($0[0].text, $0[1].text) }, uniquingKeysWith: { _, last in last })
    }

    /// A property of this type out of a dictionary of properties, or `nil`.
    func property(_ name: StaticString, _ type: StaticString) -> Variant? {
        unsafe withPointer {
            unsafe g_variant_lookup_value($0, name.description, variantType(type)).map {
                unsafe Variant(adopting: $0)
            }
        }
    }
}

/// A D-Bus type, such as `a{ss}`, which GLib reads right from the text.
func variantType(_ text: StaticString) -> OpaquePointer {
    unsafe OpaquePointer(text.utf8Start)
}
