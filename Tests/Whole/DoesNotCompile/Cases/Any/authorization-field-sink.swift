// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationFieldSink) {
    let hidden: Any = value  // expected-error {{value of type 'AuthorizationFieldSink' does not conform to specified type 'Copyable'}}
    print(hidden)
}
