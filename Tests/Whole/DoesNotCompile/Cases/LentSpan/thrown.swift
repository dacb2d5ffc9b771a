private struct Leak: Error {
    let bytes: Span<UInt8>  // expected-error {{the 'get' accessor cannot return a ~Escapable result}} expected-error {{stored property 'bytes' of 'Escapable'-conforming struct 'Leak' has non-Escapable type 'Span<UInt8>'}}
}
