import Foundation
import Testing
import TestServices

/// skopeo and podman ask, as docker-credential-helpers says, at a registry with htpasswd.
@Suite struct DockerHelperTests {
    private func docker(_ scene: HelperScene, _ verb: String, _ input: String) async throws -> ProgramRun {
        try await scene.helper("docker-credential-latchkey", verb, input: input)
    }

    private func login(_ server: String, _ user: String = "ada", _ secret: String = "s3cret") -> String {
        "{\"ServerURL\":\"\(server)\",\"Username\":\"\(user)\",\"Secret\":\"\(secret)\"}"
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `skopeo and podman log in, push, and log out`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let port = try LoopbackPort.free()
        let registry = try await Self.registry(scene, port)
        defer { registry.signal(SIGTERM) }
        let work = try await scene.shell(
            """
            set -e
            mkdir -p image/blobs/sha256 config/containers
            echo '{"default":[{"type":"insecureAcceptAnything"}]}' > config/containers/policy.json
            put() { digest=$(sha256sum < "$1" | cut -d ' ' -f 1); size=$(stat -c %s "$1"); mv "$1" image/blobs/sha256/$digest; }
            tar -cf layer --files-from /dev/null; put layer; layer=$digest; layersize=$size
            printf '{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
                $layer > configuration; put configuration
            printf '{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:%s","size":%s}]}' \
                $digest $size $layer $layersize > manifest; put manifest
            printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s,"annotations":{"org.opencontainers.image.ref.name":"latest"}}]}' \
                $digest $size > image/index.json
            echo '{"imageLayoutVersion":"1.0.0"}' > image/oci-layout

            registry=127.0.0.1:$1
            printf '{"credHelpers":{"%s":"latchkey"}}' $registry > auth.json
            export REGISTRY_AUTH_FILE=$PWD/auth.json
            copy() { skopeo --policy config/containers/policy.json copy --dest-tls-verify=false oci:image:latest docker://$registry/empty:"$1"; }
            ! copy before
            printf s3cret | skopeo login --tls-verify=false --username ada --password-stdin $registry
            copy after
            printf s3cret | podman login --tls-verify=false --authfile auth.json --username ada --password-stdin $registry
            echo "kept: $(latchkey list | grep docker:)"
            skopeo logout $registry
            ! copy late
            cat auth.json
            """, String(port))
        #expect(work.status == 0, "\(work.errorText)\(work.outputText)")
        #expect(work.outputText.contains("kept: docker:127.0.0.1:\(port)  ada"))
        #expect(work.outputText.contains("\"auths\": {}") && !work.outputText.contains("\"auth\":"))
    }

    /// A registry on a loopback port, with one user.
    static func registry(_ scene: HelperScene, _ port: UInt16) async throws -> RunningProgram {
        let users = try await Program("htpasswd").run(["-nbB", "ada", "s3cret"]).successful("htpasswd").outputText
        let password = try scene.directory.write("htpasswd", users)
        let folder = try scene.directory.makeFolder("registry")
        let configuration = try scene.directory.write(
            "registry.yml",
            """
            version: 0.1
            log: {level: error}
            storage: {filesystem: {rootdirectory: \(folder)}}
            http: {addr: "127.0.0.1:\(port)"}
            auth: {htpasswd: {realm: test, path: \(password)}}
            """)
        let registry = try Program("docker-registry").start(
            ["serve", configuration], environment: ["PATH": Program.searchPath])
        let answer = try await Program("curl").run(
            ["--silent", "--retry", "50", "--retry-connrefused", "--retry-delay", "1", "--output", "/dev/null"]
                + ["--write-out", "%{http_code}", "http://127.0.0.1:\(port)/v2/"])
        #expect(answer.outputText == "401")
        return registry
    }

    // MARK: - Exchanges

    @Test(arguments: HelperScene.Store.allCases)
    func `each verb's response is exactly what clients compare`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let server = "https://index.docker.io/v1/"
        let missing = try await docker(scene, "get", server)
        #expect(missing.status == 1 && missing.outputText == "credentials not found in native keychain\n")
        let stored = try await docker(scene, "store", login(server, "ada", "quote \\\" and \\u00e9"))
        #expect(stored.status == 0 && stored.output.isEmpty)
        let got = try await docker(scene, "get", server + "\n")
        #expect(got.outputText == login(server, "ada", "quote \\\" and é"))
        #expect(try await docker(scene, "list", "unused").outputText == "{\"\(server)\":\"ada\"}\n")
        let version = try await docker(scene, "version", "").outputText
        #expect(version.hasPrefix("docker-credential-latchkey (latchkey) "))
        for (verb, input, text) in [
            ("get", "", "no credentials server URL"), ("store", login(""), "no credentials server URL"),
            ("store", login(server, ""), "no credentials username"), ("erase", " \n", "no credentials server URL"),
        ] {
            let run = try await docker(scene, verb, input)
            #expect(run.status == 1 && run.outputText == text + "\n" && run.errorOutput.isEmpty)
        }
        #expect(try await docker(scene, "erase", server).status == 0)
        #expect(try await docker(scene, "get", server).status == 1)
        #expect(try await docker(scene, "erase", server).status == 1)
    }

    @Test func `a registry is found by host and path, with and without its scheme, never by another host`() async throws
    {
        let scene = try await HelperScene()
        for server in ["https://index.docker.io/v1/", "quay.io", "registry.example:5000/team", "kelvin.example"] {
            _ = try await docker(scene, "store", login(server, "of", server))
        }
        for (asked, found) in [
            ("index.docker.io", "https://index.docker.io/v1/"), ("docker.io", "https://index.docker.io/v1/"),
            ("docker.io/library", "https://index.docker.io/v1/"), ("https://quay.io", "quay.io"),
            ("quay.io/some/team", "quay.io"), ("QUAY.io", "quay.io"), ("HTTPS://KELVIN.example", "kelvin.example"),
            ("https://registry.example:5000/team/", "registry.example:5000/team"),
        ] {
            let run = try await docker(scene, "get", asked)
            #expect(run.outputText == login(asked, "of", found), "\(asked)")
        }
        for asked in [
            "docker.io.example", "http://docker.io", "http://quay.io", "http://index.docker.io/v1/",
            "quay.io.evil.example", "registry.example",
            "quay.io@evil.example", "quay.io:443", "HTTP://quay.io", "hTTp://quay.io/v2/", "ftp://quay.io",
            "ws://quay.io",
            "httpsx://quay.io/",
        ] {
            #expect(try await docker(scene, "get", asked).status == 1, "\(asked)")
        }
    }

    /// To Unicode the Kelvin sign in lower case is the letter k, so that another host had the secret.
    @Test func `a host with a Kelvin sign isn't the host with a k, for any helper`() async throws {
        let scene = try await HelperScene()
        for service in ["docker:kelvin.example", "git:https://kelvin.example", "https://kelvin.example/simple"] {
            try await scene.latchkey("set", service, "ada", input: "s3cret")
        }
        try await scene.latchkey("set", "terraform:kelvin.example", "token", input: "s3cret")
        for host in ["kelvin.example", "\u{212A}elvin.example"] {
            let runs = [
                try await docker(scene, "get", host),
                try await scene.helper("keyring", "get", "https://\(host)/simple/x", "ada"),
                try await scene.helper("terraform-credentials-latchkey", "get", host),
                try await scene.helper(
                    "git-credential-latchkey", "get", input: "protocol=https\nhost=\(host)\n\n"),
                try await scene.helper("latchkey", "helper", "go", "https://\(host)/module"),
            ]
            for run in runs {
                let isFound = run.outputText.contains("s3cret") || run.outputText.contains("Basic ")
                #expect(isFound == (host == "kelvin.example"), "\(host): \(run.outputText)\(run.errorText)")
            }
        }
    }

    /// As `echo` writes it.
    @Test func `a line break at a secret's end isn't part of an answer`() async throws {
        let scene = try await HelperScene()
        try await scene.latchkey("set", "docker:quay.io", "ada", input: "s3cret\n")
        #expect(try await docker(scene, "get", "quay.io").outputText == login("quay.io"))
        let pip = try await scene.helper("keyring", "--mode", "creds", "get", "docker:quay.io")
        #expect(pip.outputText == "ada\ns3cret\n", "\(pip.errorText)")
    }

    /// `latchkey set` allows several, in any order of their names.
    @Test(arguments: HelperScene.Store.allCases)
    func `of several logins the list names the one that is found`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        for user in ["zoe", "ada"] {
            try await scene.latchkey("set", "docker:quay.io", user, input: "of \(user)")
            // The times are in seconds.
            if user == "zoe" { try await Task.sleep(for: .seconds(1.1)) }
        }
        #expect(try await docker(scene, "get", "quay.io").outputText == login("quay.io", "ada", "of ada"))
        #expect(try await docker(scene, "list", "").outputText == "{\"quay.io\":\"ada\"}\n")
    }

    /// A helper looked no further than the first store that failed, or called absent what may be in a locked one.
    @Test func `with all stores, one that can't be searched hides nothing, and absence isn't claimed`() async throws {
        let scene = try await HelperScene(.secretService)
        var environment = scene.environment
        environment["LATCHKEY_STORE"] = nil
        try scene.directory.makeFolder("config/latchkey")
        try scene.directory.write("config/latchkey/config", "store = secret-service\nall-stores = yes\n")
        let latchkey = try BuiltProducts.latchkey()
        func run(_ words: String, _ input: String = "") async throws -> ProgramRun {
            try await latchkey.run(
                words.split(separator: " ").map(String.init), environment: environment, input: Array(input.utf8))
        }
        environment["LATCHKEY_PASSPHRASE_FILE"] = try scene.directory.write("passphrase", "words of a passphrase")
        try await PassphraseVault.make("words of a passphrase".utf8, in: environment)
        try await run("set --store vault docker:quay.io ada", "s3cret").successful("set")
        try await run("set --store secret-service docker:ghcr.io ada", "s3cret").successful("set")
        #expect(try await run("helper docker get", "quay.io").outputText == login("quay.io"))

        let bus = environment.updateValue("unix:path=/nowhere", forKey: "DBUS_SESSION_BUS_ADDRESS")
        #expect(try await run("helper docker get", "quay.io").outputText == login("quay.io"))
        #expect(try await run("helper docker get", "ghcr.io").outputText.contains("couldn't be searched"))

        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        environment["LATCHKEY_PASSPHRASE_FILE"] = nil
        #expect(try await run("helper docker get", "ghcr.io").outputText == login("ghcr.io"))
        #expect(try await run("helper docker get", "quay.io").outputText.contains("couldn't be searched"))
        // A provider for the host hides no other program's item, though its session may be in the locked vault.
        try await run("provider add gitlab --client-id me").successful("provider add")
        let theirs = login("gitlab.com", "bob", "theirs")
        try await Program("docker-credential-secretservice").run(
            ["store"], environment: environment, input: Array(theirs.utf8)
        ).successful("docker-credential-secretservice")
        #expect(try await run("helper docker get", "gitlab.com").outputText == theirs)
        for (words, input) in [
            ("helper git get", "protocol=https\nhost=git.example\n\n"), ("helper go https://git.example/m", ""),
            ("helper keyring get https://git.example/simple ada", ""), ("helper terraform get git.example", ""),
            ("helper aws work", ""),
        ] {
            let none = try await run(words, input)
            #expect(none.status != 0 && none.output.isEmpty, "\(words): \(none.outputText)")
            #expect(none.errorText.contains("couldn't be searched"), "\(words): \(none.errorText)")
            #expect(none.errorText.count { $0 == "\n" } == 1, "\(words): \(none.errorText)")
        }
    }

    private static let erasures = """
        unset LATCHKEY_STORE
        mkdir -p config/latchkey; printf 'store = secret-service\nall-stores = yes\n' > config/latchkey/config
        printf 'words of a passphrase' > passphrase; chmod 600 passphrase
        export LATCHKEY_PASSPHRASE_FILE=$PWD/passphrase
        store() { printf s3cret | latchkey set --store $1 $2 $3 2> errors; }
        for store in vault secret-service; do
            store $store docker:quay.io ada
            store $store docker:in.$store ada
            store $store terraform:tf.example token
            store $store git:https://git.example ada
        done
        status() { echo "$? $(wc -l < errors)"; }
        bus=$DBUS_SESSION_BUS_ADDRESS
        eval "$1"
        latchkey helper docker list 2> errors; status
        printf quay.io | latchkey helper docker erase > errors; status
        latchkey helper terraform forget tf.example 2> errors; status
        printf 'protocol=https\nhost=git.example\nusername=ada\npassword=s3cret\n\n' |
            latchkey helper git erase 2> errors; status
        export DBUS_SESSION_BUS_ADDRESS=$bus LATCHKEY_PASSPHRASE_FILE=$PWD/passphrase
        for store in vault secret-service; do
            echo $(latchkey list --store $store | sed 1d | cut -d ' ' -f 1 | sort)
        done
        """

    /// What was in the others stayed there, and nothing told that a closed one may still have it.
    @Test(arguments: [
        ("vault", "export DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", 69),
        ("secret-service", "unset LATCHKEY_PASSPHRASE_FILE", 77),
    ])
    func `with all stores, an erasure reaches the others, and tells of one that couldn't be opened`(
        _ open: String, _ closing: String, _ status: Int
    ) async throws {
        let scene = try await HelperScene(.secretService)
        try await PassphraseVault.make("words of a passphrase".utf8, in: scene.environment)
        let run = try await scene.shell(Self.erasures, closing)
        func left(_ store: String) -> String {
            store == open
                ? "docker:in.\(store)"
                : "docker:in.\(store) docker:quay.io git:https://git.example terraform:tf.example"
        }
        let expected = """
            {"in.\(open)":"ada","quay.io":"ada"}
            0 1
            1 1
            \(status) 1
            \(status) 1
            \(left("vault"))
            \(left("secret-service"))

            """
        #expect(run.outputText == expected, "\(run.outputText) \(run.errorText)")
    }

    @Test func `another user's login replaces the first`() async throws {
        let scene = try await HelperScene()
        _ = try await docker(scene, "store", login("quay.io", "ada", "1"))
        _ = try await docker(scene, "store", login("quay.io", "<token>", "2"))
        #expect(try await docker(scene, "get", "quay.io").outputText == login("quay.io", "<token>", "2"))
        #expect(try await docker(scene, "list", "").outputText == "{\"quay.io\":\"<token>\"}\n")
    }

    @Test func `a login under another spelling of the registry replaces the first, and an empty one doesn't`()
        async throws
    {
        let scene = try await HelperScene()
        for (first, second) in [
            ("https://index.docker.io/v1/", "docker.io"), ("quay.io", "https://quay.io"), ("https://r.ex/", "r.ex"),
            ("s.ex", "https://s.ex/v1/"),
        ] {
            _ = try await docker(scene, "store", login(first, "ada", "old"))
            _ = try await docker(scene, "store", login(second, "bob", "new"))
            #expect(try await docker(scene, "get", first).outputText == login(first, "bob", "new"))
        }
        let empty = try await docker(scene, "store", login("quay.io", "bob", ""))
        #expect(empty.status == 1 && empty.outputText.contains("no credentials secret"), "\(empty.outputText)")
        #expect(try await docker(scene, "get", "quay.io").outputText == login("quay.io", "bob", "new"))
    }

    /// `podman logout` failed, and the login stayed.
    @Test func `erase deletes what get answers with, but no login for the whole host`() async throws {
        let scene = try await HelperScene()
        for (stored, asked) in [
            ("https://quay.io", "quay.io"), ("quay.io/v1/", "https://quay.io/v1"),
            ("docker.io", "https://index.docker.io/v1/"),
            ("https://index.docker.io/v1/", "docker.io"),
        ] {
            _ = try await docker(scene, "store", login(stored, "ada", "1"))
            #expect(try await docker(scene, "erase", asked).status == 0, "\(asked)")
            #expect(try await docker(scene, "get", stored).status == 1)
        }
        _ = try await docker(scene, "store", login("quay.io", "ada", "1"))
        for asked in ["quay.io/team", "http://quay.io"] { #expect(try await docker(scene, "erase", asked).status == 1) }
        #expect(try await docker(scene, "get", "quay.io/team").status == 0)
    }

    @Test func `docker's own keyring items are read, listed and erased`() async throws {
        let scene = try await HelperScene(.secretService)
        let server = "https://other.example/v1/"
        let own = try Program("docker-credential-secretservice")
        try await own.run(
            ["store"], environment: scene.environment, input: Array(login(server, "bob", "theirs").utf8)
        ).successful("docker-credential-secretservice")
        #expect(try await docker(scene, "get", server).outputText == login(server, "bob", "theirs"))
        #expect(try await docker(scene, "list", "").outputText == "{\"\(server)\":\"bob\"}\n")
        #expect(try await docker(scene, "erase", server).status == 0)
        let gone = try await own.run(["get"], environment: scene.environment, input: Array(server.utf8))
        #expect(gone.status == 1)
    }

    @Test(arguments: ["{", "[]", "{\"ServerURL\":1}", String(repeating: "[", count: 100_000)])
    func `an invalid request is refused on standard output`(_ input: String) async throws {
        let scene = try await HelperScene()
        let run = try await docker(scene, "store", input)
        #expect(run.status == 1 && !run.output.isEmpty && run.errorOutput.isEmpty)
        #expect(!run.outputText.contains("unexpected"))
        #expect(try await docker(scene, "dream", "").status == 1)
    }

    @Test func `a secret that isn't text is refused on docker's standard output`() async throws {
        let scene = try await HelperScene()
        try await BuiltProducts.latchkey().run(
            ["set", "docker:quay.io", "ada"], environment: scene.environment, input: [0xFF, 0xFE]
        ).successful("set")
        let run = try await docker(scene, "get", "quay.io")
        #expect(run.status == 1 && run.outputText.hasPrefix("what is stored isn't text"), "\(run.outputText)")
    }

    @Test func `a missing vault is reported on docker's standard output`() async throws {
        let scene = try await HelperScene(misses: true)
        let run = try await docker(scene, "get", "quay.io")
        #expect(
            run.status == 1 && run.outputText.hasPrefix("no vault at \(scene.directory.path)/nowhere; "),
            "\(run.outputText)")
        #expect(run.errorOutput.isEmpty)
    }
}
