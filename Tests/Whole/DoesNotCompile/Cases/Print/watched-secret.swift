import LatchkeyLog
import LatchkeySecrets

func leak(_ watched: consuming WatchedSecret) {
    print(watched)  // expected-error {{argument type 'WatchedSecret' does not conform to expected type 'Copyable'}}
}
