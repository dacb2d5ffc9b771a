// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyCommandLine
import LatchkeyProcess

private func leak(_ value: consuming TerminalSecretSink) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
