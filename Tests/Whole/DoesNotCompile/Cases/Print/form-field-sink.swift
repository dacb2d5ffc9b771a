// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming FormFieldSink) {
    print(value)  // expected-error {{argument type 'FormFieldSink' does not conform to expected type 'Copyable'}}
}
