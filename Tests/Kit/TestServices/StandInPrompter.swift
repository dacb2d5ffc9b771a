internal import Foundation

/// Stands in for the desktop's unlock dialog on a private session: answers each question the keyring asks, or doesn't.
///
/// gnome-keyring asks through org.gnome.keyring.SystemPrompter, and takes passwords encrypted for it alone (gcr's
/// exchange `sx-aes-1`: Diffie-Hellman in the 1536-bit group of RFC 3526, HKDF-SHA-256, AES-128-CBC).
public final class StandInPrompter: Sendable {
    public enum Answer: Sendable {
        /// The dialog stays open and nobody comes.
        case never
        /// The person presses Cancel.
        case cancel
        /// The person types these, one a question, and the last one again and again.
        case passwords([String])

        fileprivate var arguments: [String] {
            switch self {
            case .never: ["never"]
            case .cancel: ["cancel"]
            case .passwords(let texts): ["passwords"] + texts
            }
        }
    }

    private let program: RunningProgram
    private let session: PrivateSession

    /// Waits until the keyring can ask.
    public init(on session: PrivateSession, answering answer: Answer) async throws {
        self.session = session
        // The system's Python has the packages that Debian installs; another one may come first on the path.
        program = try Program("/usr/bin/python3").start(
            ["-c", Self.script] + answer.arguments, environment: session.environment)
        try await session.wait(for: "org.gnome.keyring.SystemPrompter", from: program)
    }

    /// How many dialogs were begun.
    public var begun: Int { count("begun") }
    /// How often something was asked in them.
    public var asked: Int { count("asked") }
    /// How many dialogs were taken away.
    public var stopped: Int { count("stopped") }

    private func count(_ word: String) -> Int { program.outputSoFar.split(separator: "\n").count { $0 == word } }

    /// Waits until a condition on it holds.
    public func wait(for what: String, until condition: (StandInPrompter) -> Bool) async throws {
        try await program.wait(for: what) { condition(self) }
    }

    /// Somebody comes at last to the dialogs that are open, and types a password, there and in all that follow.
    public func answer(_ password: String) async throws {
        try await session.call(
            "org.gnome.keyring.SystemPrompter", "/", "org.latchkey.Test.Answer", ["string:" + password])
    }

    public func stop() async { await program.stop() }

    private static let script = #"""
        import base64, hashlib, hmac, os, sys
        from cryptography.hazmat.primitives import padding
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_error
        from jeepney import new_method_call, new_method_return
        from jeepney.io.blocking import open_dbus_connection

        answer, passwords = sys.argv[1], sys.argv[2:]
        # RFC 3526, group 5: 2^1536 - 2^1472 - 1 + 2^64 * (floor(2^1406 * pi) + 741804); the middle is from the RFC.
        prime = int(
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
            "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
            "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
            "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF", 16)


        def encoded(number):
            return base64.b64encode(number.to_bytes(192, "big")).decode()


        class Exchange:
            """One dialog's encrypted channel."""

            def __init__(self):
                self.private = int.from_bytes(os.urandom(32), "big")
                self.key = None
                self.is_new = False

            def opening(self):
                return "[sx-aes-1]\npublic=%s\n" % encoded(pow(2, self.private, prime))

            def hear(self, text):
                fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
                peer = int.from_bytes(base64.b64decode(fields["public"]), "big")
                shared = pow(peer, self.private, prime)
                # One shared secret in 256 begins with zeros. gcr 3.41 leaves them out. gnome-keyring 42 has its own code for
                # new passwords, which keeps them.
                shared = shared.to_bytes(192 if self.is_new else (shared.bit_length() + 7) // 8, "big")
                extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
                self.key = hmac.new(extracted, b"\x01", hashlib.sha256).digest()[:16]

            def sealed(self, password):
                padder = padding.PKCS7(128).padder()
                plain = padder.update(password.encode()) + padder.finalize()
                iv = os.urandom(16)
                encryptor = Cipher(algorithms.AES(self.key), modes.CBC(iv)).encryptor()
                secret = base64.b64encode(encryptor.update(plain) + encryptor.finalize()).decode()
                return self.opening() + "secret=%s\niv=%s\n" % (secret, base64.b64encode(iv).decode())


        bus = open_dbus_connection("SESSION")
        exchanges = {}


        def call_back(client, path, method, signature=None, body=()):
            address = DBusAddress(path, client, "org.gnome.keyring.internal.Prompter.Callback")
            bus.send(new_method_call(address, method, signature, body))


        def ready(client, path, choice, text):
            call_back(client, path, "PromptReady", "sa{sv}s", (choice, {}, text))


        waiting = []
        bus.send_and_get_reply(message_bus.RequestName("org.gnome.keyring.SystemPrompter"))
        while True:
            message = bus.receive()
            if message.header.message_type is not MessageType.method_call:
                continue
            method = message.header.fields[HeaderFields.member]
            client = message.header.fields[HeaderFields.sender]
            if method == "Answer":
                bus.send(new_method_return(message))
                for client, path in waiting:
                    ready(client, path, "yes", exchanges[path].sealed(message.body[0]))
                waiting = []
                answer, passwords = "passwords", [message.body[0]]
                continue
            if method not in ("BeginPrompting", "PerformPrompt", "StopPrompting"):
                bus.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
                continue
            bus.send(new_method_return(message))
            path = message.body[0]
            if method == "BeginPrompting":
                print("begun", flush=True)
                exchanges[path] = Exchange()
                ready(client, path, "", exchanges[path].opening())
            elif method == "PerformPrompt":
                print("asked", flush=True)
                exchange = exchanges[path]
                # Only properties that have changed since the last question are sent.
                exchange.is_new = message.body[2].get("password-new", ("b", exchange.is_new))[1]
                exchange.hear(message.body[3])
                if answer == "cancel":
                    ready(client, path, "no", exchange.opening())
                elif answer == "passwords" and message.body[1] == "password":
                    password = passwords.pop(0) if len(passwords) > 1 else passwords[0]
                    ready(client, path, "yes", exchange.sealed(password))
                elif answer == "passwords":
                    ready(client, path, "yes", exchange.opening())
                else:
                    waiting.append((client, path))
            else:
                print("stopped", flush=True)
                exchanges.pop(path, None)
                call_back(client, path, "PromptDone")
        """#
}
