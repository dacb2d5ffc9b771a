import LatchkeySecrets

private final class Keeper {
    var bytes: Span<UInt8>?  // expected-error {{the 'get' accessor cannot return a ~Escapable result}} expected-error {{the '_modify' accessor cannot return a ~Escapable result}}
}
