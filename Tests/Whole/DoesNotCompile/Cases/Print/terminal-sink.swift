// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyCommandLine
import LatchkeyProcess

private func leak(_ value: consuming TerminalSecretSink) {
    print(value)  // expected-error {{argument type 'TerminalSecretSink' does not conform to expected type 'Copyable'}}
}
