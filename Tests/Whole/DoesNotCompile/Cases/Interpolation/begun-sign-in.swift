// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private typealias BegunSignIn = SignInService.BegunSignIn

private func leak(_ value: consuming BegunSignIn) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
