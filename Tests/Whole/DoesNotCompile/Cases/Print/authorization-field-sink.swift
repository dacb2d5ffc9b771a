// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationFieldSink) {
    print(value)  // expected-error {{argument type 'AuthorizationFieldSink' does not conform to expected type 'Copyable'}}
}
