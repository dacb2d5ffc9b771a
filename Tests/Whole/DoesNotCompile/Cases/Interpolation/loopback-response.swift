// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyLoopback

private func leak(_ value: consuming LoopbackResponse) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
