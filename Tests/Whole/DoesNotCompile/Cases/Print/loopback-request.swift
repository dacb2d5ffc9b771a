// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyLoopback

private func leak(_ value: consuming LoopbackRequest) {
    print(value)  // expected-error {{argument type 'LoopbackRequest' does not conform to expected type 'Copyable'}}
}
