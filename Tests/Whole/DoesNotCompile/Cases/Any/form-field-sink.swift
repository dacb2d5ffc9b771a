// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming FormFieldSink) {
    let hidden: Any = value  // expected-error {{value of type 'FormFieldSink' does not conform to specified type 'Copyable'}}
    print(hidden)
}
