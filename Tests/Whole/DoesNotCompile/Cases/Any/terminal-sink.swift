// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyCommandLine
import LatchkeyProcess

private func leak(_ value: consuming TerminalSecretSink) {
    let hidden: Any = value  // expected-error {{value of type 'TerminalSecretSink' does not conform to specified type 'Copyable'}}
    print(hidden)
}
