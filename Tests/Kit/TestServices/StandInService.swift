internal import Foundation

/// A Secret Service that misbehaves on purpose: for what no real service can be brought to do.
///
/// It offers one open collection, the default one, with one item: `kept` under `service` s and `username` u.
public final class StandInService: Sendable {
    public enum Fault: String, Sendable {
        /// Replies with another type than the method has.
        case type
        /// Replies with the right type and nonsense in it.
        case garbage
        /// Replies that there is no such object.
        case gone
        /// Replies with an error of no meaning.
        case error
        /// Replies with nothing in the collection that is asked for, or that nothing was made (for `CreateItem`).
        case empty
        /// Replies once that the arguments are bad, then as it should.
        case firstRefused
        /// Replies once that there is no such session, then as it should.
        case firstForgotten
        /// Replies once with the path of no item, then as it should (for `SearchItems`).
        case firstAstray
        /// Never replies.
        case silence
        /// Dies instead of replying.
        case death
        /// Supports no encrypted session (for `OpenSession`).
        case plain
        /// The item is locked until it is unlocked by its own path (for `GetAll`). A question that is answered unlocks
        /// nothing (for `Unlock`).
        case locked
    }

    private let program: RunningProgram

    /// - Parameter faults: by the method that has them, in the service, the collection, an item or
    ///   `org.freedesktop.DBus.Properties`.
    public init(on session: PrivateSession, _ faults: [String: Fault] = [:]) async throws {
        program = try Program("/usr/bin/python3").start(
            ["-c", Self.script] + faults.map { "\($0.key)=\($0.value.rawValue)" }, environment: session.environment)
        try await session.wait(from: program)
    }

    /// How often a method was called.
    public func calls(_ method: String) -> Int { methods.count { $0 == method } }

    /// The methods that were called, in their order.
    public var methods: [String] { program.outputSoFar.split(separator: "\n").map(String.init) }

    public func stop() async { await program.stop() }

    private static let script = #"""
        import hashlib, hmac, os, sys, time
        from cryptography.hazmat.primitives import padding
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from jeepney import DBusAddress, HeaderFields, MessageType, message_bus
        from jeepney import new_error, new_method_return, new_signal
        from jeepney.io.blocking import open_dbus_connection

        # RFC 2409, section 6.2.
        prime = int(
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
            "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
            "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)
        faults = dict(word.split("=") for word in sys.argv[1:])
        interface = "org.freedesktop.Secret."
        collection = "/org/freedesktop/secrets/collection/c"
        keys = {}
        unlocked = set()


        class Item:
            def __init__(self, label, attributes, secret, content_type):
                self.label, self.attributes, self.secret, self.type = label, attributes, secret, content_type
                self.created = self.modified = int(time.time())

            def properties(self, path):
                locked = faults.get("GetAll") == "locked" and path not in unlocked
                return {"Label": ("s", self.label), "Attributes": ("a{ss}", self.attributes), "Locked": ("b", locked),
                    "Created": ("t", self.created), "Modified": ("t", self.modified)}


        items = {collection + "/1": Item("Kept", {"service": "s", "username": "u"}, b"kept", "text/plain")}


        def open_session(algorithm, peer):
            path = "/org/freedesktop/secrets/session/%d" % len(keys)
            if algorithm == "plain":
                keys[path] = None
                return "vo", (("s", ""), path)
            if algorithm != "dh-ietf1024-sha256-aes128-cbc-pkcs7" or faults.get("OpenSession") == "plain":
                raise KeyError("org.freedesktop.DBus.Error.NotSupported")
            private = int.from_bytes(os.urandom(32), "big")
            shared = pow(int.from_bytes(peer[1], "big"), private, prime).to_bytes(128, "big")
            extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
            keys[path] = hmac.new(extracted, b"\x01", hashlib.sha256).digest()[:16]
            public = pow(2, private, prime).to_bytes(128, "big")
            if faults.get("OpenSession") == "garbage":
                return "vo", (("s", "no key"), path)
            return "vo", (("ay", public), path)


        def sealed(session, item):
            if keys[session] is None:
                return (session, b"", item.secret, item.type)
            padder = padding.PKCS7(128).padder()
            plain = padder.update(item.secret) + padder.finalize()
            if faults.get("GetSecrets") == "garbage":
                # Zero bytes of padding are never right; a changed ciphertext would decrypt to something now and then.
                plain = plain[:-1] + bytes(1)
            iv = os.urandom(16)
            encryptor = Cipher(algorithms.AES(keys[session]), modes.CBC(iv)).encryptor()
            form = encryptor.update(plain) + encryptor.finalize()
            return (session, iv, form, item.type)


        def opened(form):
            session, iv, form, content_type = form
            if keys[session] is None:
                return form
            decryptor = Cipher(algorithms.AES(keys[session]), modes.CBC(bytes(iv))).decryptor()
            plain = decryptor.update(bytes(form)) + decryptor.finalize()
            unpadder = padding.PKCS7(128).unpadder()
            return unpadder.update(plain) + unpadder.finalize()


        def found(query):
            return [path for path, item in items.items() if query.items() <= item.attributes.items()]


        def create(properties, form, replace):
            path = "%s/%d" % (collection, len(items) + 1)
            label = properties[interface + "Item.Label"][1]
            items[path] = Item(label, properties[interface + "Item.Attributes"][1], opened(form), form[3])
            return path


        def reply(method, path, body):
            fault = faults.get(method)
            if method == "OpenSession":
                return open_session(*body)
            if method == "ReadAlias":
                return "o", (collection if body[0] == "default" else "/",)
            if method == "SearchItems" and path == "/org/freedesktop/secrets":
                return "aoao", (found(body[0]), [])
            if fault == "firstAstray":
                del faults[method]
                return "ao", ([collection + "/nonsense"],)
            if method == "SearchItems":
                return "ao", ([] if fault == "empty" else [collection + "/nonsense"] if fault == "garbage"
                    else found(body[0]),)
            if method == "GetSecrets":
                secrets = {path: sealed(body[1], items[path]) for path in body[0] if path in items}
                return "a{o(oayays)}", ({} if fault == "empty" else secrets,)
            if method == "Unlock" and fault in ("garbage", "locked"):
                return "aoo", ([], "/org/freedesktop/secrets/prompt/1")
            if method == "Unlock":
                unlocked.update(body[0])
                return "aoo", ([] if fault == "empty" else body[0], "/")
            if method == "Prompt":
                emitter = DBusAddress(path, interface=interface + "Prompt")
                if faults.get("Unlock") == "locked":
                    bus.send(new_signal(emitter, "Completed", "bv", (False, ("ao", []))))
                else:
                    bus.send(new_signal(emitter, "Completed", "s", ("wrong",)))
                return "", ()
            if method == "Dismiss":
                return "", ()
            if method == "CreateItem":
                return "oo", ("/" if fault == "empty" else create(*body), "/")
            if method == "SetSecret":
                items[path].secret = opened(body[0])
                return "", ()
            if method == "Delete":
                del items[path]
                return "o", ("/",)
            if method == "Set":
                items[path].label = body[2][1]
                return "", ()
            if method == "Get":
                values = {"Locked": ("b", False), "Items": ("ao", list(items)), "Collections": ("ao", [collection]),
                    "Label": ("s", "Stand-in")}
                return "v", (("s", "wrong") if fault == "garbage" else values[body[1]],)
            if method == "GetAll":
                properties = items[path].properties(path)
                if fault == "garbage":
                    del properties["Label"]
                return "a{sv}", (properties,)
            raise KeyError("org.freedesktop.DBus.Error.UnknownMethod")


        bus = open_dbus_connection("SESSION")
        bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.secrets"))
        while True:
            message = bus.receive()
            if message.header.message_type is not MessageType.method_call:
                continue
            method = message.header.fields[HeaderFields.member]
            path = message.header.fields[HeaderFields.path].replace("/aliases/default", "/collection/c")
            print(method, flush=True)
            fault = faults.get(method)
            if fault == "silence":
                continue
            if fault == "death":
                sys.exit()
            if fault == "type":
                bus.send(new_method_return(message, "s", ("wrong",)))
            elif fault == "firstRefused":
                del faults[method]
                bus.send(new_error(message, "org.freedesktop.DBus.Error.InvalidArgs"))
            elif fault == "firstForgotten":
                del faults[method]
                bus.send(new_error(message, "org.freedesktop.Secret.Error.NoSession"))
            elif fault == "gone":
                bus.send(new_error(message, "org.freedesktop.Secret.Error.NoSuchObject"))
            elif fault == "error":
                bus.send(new_error(message, "org.freedesktop.DBus.Error.Failed", "s", ("canary in the prose",)))
            else:
                try:
                    signature, body = reply(method, path, message.body)
                    bus.send(new_method_return(message, signature, body))
                except KeyError as problem:
                    name = problem.args[0]
                    known = name if name.startswith("org.") else "org.freedesktop.Secret.Error.NoSuchObject"
                    bus.send(new_error(message, known))
        """#
}
