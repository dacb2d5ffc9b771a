// Compiled as a part of the package: outside it this has no name.
import LatchkeyDBus
import LatchkeySecrets

private func leak(_ value: consuming DecodedSecret<Password>) {
    print(value)  // expected-error {{argument type 'DecodedSecret<Password>' does not conform to expected type 'Copyable'}}
}
