import Credentials
import HTTPTransport
import LoopbackHTTP
import OAuth
import Secrets

func exchange(_ callback: consuming ValidatedCallback) {}

func use(_ callback: consuming ValidatedCallback, _ lease: consuming Lease) {
    exchange(callback)
    lease.release()
}
