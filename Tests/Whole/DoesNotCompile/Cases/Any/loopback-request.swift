// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyLoopback

private func leak(_ value: consuming LoopbackRequest) {
    let hidden: Any = value  // expected-error {{value of type 'LoopbackRequest' does not conform to specified type 'Copyable'}}
    print(hidden)
}
