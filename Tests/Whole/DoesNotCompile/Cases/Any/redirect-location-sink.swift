// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming RedirectLocationSink) {
    let hidden: Any = value  // expected-error {{value of type 'RedirectLocationSink' does not conform to specified type 'Copyable'}}
    print(hidden)
}
