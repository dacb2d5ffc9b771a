import LatchkeyTestServer
import LatchkeySecrets

private func leak(_ server: LoopbackAuthorizationServer) {
    server.withEachSecret { (name: String, secret: borrowing Secret<MessageBody>) in
        print(secret)  // expected-error {{argument type 'Secret<MessageBody>' does not conform to expected type 'Copyable'}}
    }
}
