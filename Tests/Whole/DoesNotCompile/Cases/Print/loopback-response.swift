// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyLoopback

private func leak(_ value: consuming LoopbackResponse) {
    print(value)  // expected-error {{argument type 'LoopbackResponse' does not conform to expected type 'Copyable'}}
}
