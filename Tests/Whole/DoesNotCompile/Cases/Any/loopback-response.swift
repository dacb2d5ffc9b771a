// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyLoopback

private func leak(_ value: consuming LoopbackResponse) {
    let hidden: Any = value  // expected-error {{value of type 'LoopbackResponse' does not conform to specified type 'Copyable'}}
    print(hidden)
}
