// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ES256Key) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'ES256Key' conform to 'Copyable'}}
}
