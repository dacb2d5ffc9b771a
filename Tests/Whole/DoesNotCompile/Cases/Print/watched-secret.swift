import LatchkeyLog
import LatchkeySecrets

private func leak(_ watched: consuming WatchedSecret) {
    print(watched)  // expected-error {{argument type 'WatchedSecret' does not conform to expected type 'Copyable'}}
}
