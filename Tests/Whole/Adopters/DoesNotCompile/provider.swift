// A metadata provider can't throw: what it gets wrong is between it and its author.
import LatchkeySwiftLog
import Logging

struct Failed: Error {}

func provider() -> Logger.MetadataProvider {
    Logger.MetadataProvider { throw Failed() }  // expected-error {{invalid conversion from throwing function}}
}
