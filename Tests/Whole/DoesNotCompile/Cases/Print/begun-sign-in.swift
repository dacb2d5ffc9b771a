// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private typealias BegunSignIn = SignInService.BegunSignIn

private func leak(_ value: consuming BegunSignIn) {
    print(value)  // expected-error {{argument type 'BegunSignIn' (aka 'SignInService.BegunSignIn') does not conform to expected type 'Copyable'}}
}
