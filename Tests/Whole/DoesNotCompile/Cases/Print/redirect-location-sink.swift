// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming RedirectLocationSink) {
    print(value)  // expected-error {{argument type 'RedirectLocationSink' does not conform to expected type 'Copyable'}}
}
