package import LatchkeyTerminal
internal import Synchronization

/// The commands that `latchkey-auth` runs. They are defined here, so that `latchkey` can check a command line and show
/// its help without the network's libraries.
package enum SignInDefinitions {
    package static let account = CommandOption.value(
        "--account", "ACCOUNT", help: "which account; else the current one")
    package static let certificateAuthority = CommandOption.value(
        "--ca-file", "FILE", help: "trust the certificates in this PEM file instead of the system's")
    package static let clientID = CommandOption.value("--client-id", "ID", help: "the client's id at the server")
    package static let scope = CommandOption.value("--scope", "SCOPE", repeats: true, help: "a scope to ask for")
    package static let browser = CommandOption.flag("--browser", help: "use a browser on this machine, and only that")
    package static let paste = CommandOption.flag("--paste", help: "show the address, and ask for the one it ends at")
    package static let device = CommandOption.flag("--device", help: "show a code to enter on another device")
    package static let scheme = CommandOption.flag(
        "--scheme", help: "use a browser here, and the handler of the redirect's private-use scheme")
    package static let anyScheme = CommandOption.flag(
        "--any-scheme", help: "take a scheme without a dot, such as relay, which other programs may claim as well")
    package static let ephemeral = CommandOption.flag(
        "--ephemeral", help: "use a private window, without the browser's cookies")
    package static let redirect = CommandOption.value(
        "--redirect", "URI", help: "the redirect URI, for servers that compare ports")
    package static let issuer = CommandOption.value("--issuer", "URL", help: "the server's issuer")
    /// Beside those that are known here, services that the program adds before it reads its command line.
    private static let addedServices = Mutex<[StaticString]>([])

    package static func add(service: StaticString) { addedServices.withLock { $0.append(service) } }

    package static let service = CommandOption.value(
        "--service", "SERVICE",
        form: .choice(
            ["bluesky", "codeberg", "github", "gitlab", "google", "mastodon", "microsoft", "spotify"]
                + addedServices.withLock { $0 }),
        help: "a built-in service, when NAME isn't its name: bluesky, codeberg, github, gitlab, google, ...")
    package static let host = CommandOption.value(
        "--host", "HOST",
        help: "where the service is, for codeberg, github, gitlab, mastodon; the did:plc directory for bluesky")
    package static let clientSecret = CommandOption.flag(
        "--client-secret-stdin", help: "read the client's secret from standard input, into the store")
    package static let dpop = CommandOption.flag(
        "--dpop", help: "bind tokens to a key that only the store has, and refuse others")
    package static let par = CommandOption.flag(
        "--par", help: "push each sign-in's request to the server first, or refuse")
    package static let register = CommandOption.flag(
        "--register", help: "register a client with the server, in place of --client-id")
    package static let development = CommandOption.flag(
        "--development", help: "let accounts of bluesky lead to servers on loopback addresses")
    package static let everywhere = CommandOption.flag("--everywhere", help: "all accounts, at all providers or at one")
    package static let data = CommandOption.value(
        "--data", "@FILE", help: "send the bytes of this file; @- is standard input")
    package static let jsonBody = CommandOption.value(
        "--json-body", "TEXT", help: "send this JSON, which every user of the machine can see: no secrets")
    package static let method = CommandOption.value(
        "--method", "METHOD", help: "as METHOD (GET, or POST with --data or --json-body)")
    package static let header = CommandOption.value(
        "--header", "FIELD", repeats: true, help: "send this header field too, such as 'Accept: text/plain'")
    package static let include = CommandOption.flag(
        "--include", help: "write the response's status and header fields before its body")

    package static let origin = CommandOption.value(
        "--origin", "URL", repeats: true,
        help: "let the token go to this origin too, such as https://api.example.org")

    package static let forHost = CommandOption.value(
        "--for-host", "HOST", repeats: true,
        help: "answer git, docker and others that ask for this host: as --origin https://HOST")

    package static let contentType = CommandOption.value(
        "--content-type", "TYPE", help: "the media type of what --data sends (application/json)")

    package static let importSource = CommandOption.value(
        "--from", "SOURCE",
        form: .choice([
            "git", "gcm", "docker", "cargo", "netrc", "pypirc", "gh", "python-keyring", "libsecret-file",
            "gnome-keyring-collection",
        ]),
        help: "git, gcm, docker, cargo, netrc, pypirc, gh, python-keyring or another of those below")
    package static let emptySource = CommandOption.flag(
        "--empty-source",
        help: "remove the imported secrets from the plain-text file (git to pypirc)")
    package static let importItems = CommandOption.flag(
        "--items", help: "gnome-keyring-collection: take every item into a vault as it is, with all its attributes")
    package static let sourcePassphrase = CommandOption.value(
        "--import-passphrase-fd", "N", form: .descriptor,
        help: "read the passphrase of libsecret's file from this descriptor, 3 or above")

    private static let provider = CommandOperand.required("PROVIDER", help: "a name from latchkey provider list")
    private static let newProvider = CommandOperand.required(
        "PROVIDER", help: "a name from latchkey provider list, or with --issuer a new one")

    package static let signIn = CommandDefinition(
        "sign-in", topic: .signIns, summary: "sign in and keep the session", operands: [newProvider],
        options: [
            account, issuer, clientID, host, scope, browser, scheme, ephemeral, paste, device, redirect, anyScheme,
            certificateAuthority,
        ],
        details: """
            No latchkey provider add is needed before: --client-id names the client, --host the host where a built-in service
            isn't at one place, and --issuer any other server, whose name PROVIDER becomes. A sign-in that succeeds adds the
            server. A host of mastodon gives a client by itself, once; the store keeps it.

            A session holds an access token and usually a refresh token. It is stored as one item, and refreshed when a command
            needs it. Many servers issue a refresh token for the scope offline_access. An account has the server's name for the
            person, or the provider's if the server doesn't say. If that name is another person's account, the new one gets a
            number; a name that --account sets is refused then. The account's old tokens are revoked if the server can do that.

            Without --browser, --scheme, --paste or --device the session decides, and standard error says which way it is and why: a
            browser where there is a display or BROWSER names one; with a paste beside it, whichever comes first, over SSH,
            in WSL and in containers; without a display another device where the server can do that and no --redirect is
            named, else a paste, and a loopback redirect is listened at too: ssh can forward its port. Where the redirect has a
            private-use scheme, the browser's response comes by way of latchkey scheme add.

            --ephemeral takes what BROWSER names or is installed of Firefox, Chromium, Chrome, Brave, Vivaldi, Edge and
            LibreWolf. Without a terminal, --device writes its code to standard error (RFC 8628).
            """)
    package static let signOut = CommandDefinition(
        "sign-out", topic: .signIns, summary: "revoke the session where the server can, and delete it",
        operands: [.optional("PROVIDER", help: "a name from latchkey provider list")],
        options: [account, everywhere, certificateAuthority],
        details: """
            --everywhere: each account at PROVIDER, or without PROVIDER each account there is. One that fails keeps no other
            from being signed out.
            """)
    package static let accounts = CommandDefinition(
        "accounts", topic: .signIns, summary: "list who is signed in",
        operands: [.optional("PROVIDER", help: "only this provider")],
        details: """
            It says when the token or the session ends, in local time. A session that its server has ended is marked until
            the next sign-in or sign-out.
            """)
    package static let use = CommandDefinition(
        "use", topic: .signIns, summary: "make an account the current one",
        operands: [provider, .required("ACCOUNT", help: "an account from latchkey accounts")])
    package static let token = CommandDefinition(
        "token", topic: .signIns, summary: "write the access token to standard output, refreshed when it has expired",
        operands: [provider], options: [account, certificateAuthority],
        details: """
            The token's bytes are written as they are, without a line break. Processes that ask at the same time make one
            refresh.
            """)
    package static let request = CommandDefinition(
        "request", topic: .signIns, summary: "send a request with the access token, and write the response's body",
        operands: [
            provider, .optional("METHOD", help: "GET, HEAD, POST, PUT, PATCH or DELETE; GET, or POST with a body"),
            .required("URL", help: "where to: https, a loopback address, or a path alone, on the provider's API"),
        ],
        options: [
            account, method, header, data, jsonBody, contentType, include, .raw, origin, certificateAuthority,
        ],
        details: """
            A path alone, such as /user, is on the API of a built-in service; on the first --origin of another provider, or
            else at its issuer; at bluesky on the account's own server.

            request writes one page of the response's body unchanged, but escapes control characters on a terminal.
            --include shows the Link field that leads to the next page.

            The token goes to the origins of the provider's own addresses and those that --origin names, here or at latchkey
            provider add. request refuses any other origin with status 77, and follows no redirects.

            Exit status after a response: 0 for 2xx; 77 for 401 and 403; 75 for 408, 425, 429 and 503; 69 for other
            5xx; 22 for any other, such as 404 or 409. The body is written first.

            --header and --json-body stand on the command line, where every user of the machine can read them.
            """)
    package static let providerAdd = CommandDefinition(
        "provider", "add", summary: "add a server to sign in at",
        operands: [.required("NAME", help: "your name for it: letters, digits, hyphens")],
        options: [
            issuer, service, host, clientID, register, clientSecret, scope, origin, forHost, dpop, par, redirect,
            anyScheme,
            development, certificateAuthority, force,
        ],
        details: """
            Endpoints are discovered from --issuer. Built in are bluesky, codeberg (also other hosts with Forgejo or Gitea),
            github (also Enterprise hosts), gitlab (also self-hosted), google, mastodon (at --host), microsoft and spotify.

            The client is registered, on a page of the server's, with the redirect URI that is shown: no other server shares
            it (RFC 9700 section 4.4.2.2), and each sign-in adds a port. --redirect takes another, with a warning where other
            providers' responses come to it too. github, google and mastodon give the client a secret. With --register
            the server registers the client itself (RFC 7591), by a method that the server offers and with a fixed port, because
            some servers compare the port too: mastodon does it once for a host, and the store keeps it.

            --dpop: the tokens are useless without the key (RFC 9449). Requests are pushed to a server that supports it anyhow
            (RFC 9126), so that the browser's address doesn't hold them; --par refuses any other.

            bluesky needs no registration: it is a loopback client, or --client-id is the URL of a client's metadata, which
            lists the redirect URI and is loaded before each sign-in. Each account's own server is found from its handle or
            DID: a public one with HTTPS, but for --development.

            At a terminal a question comes before a server of that name is replaced; elsewhere it is replaced.
            """)
    package static let force = CommandOption.flag("--force", help: "replace a server of that name without asking")
    package static let available = CommandOption.flag(
        "--available", help: "list the services that are built in, and how to sign in at each")
    package static let providerList = CommandDefinition(
        "provider", "list", summary: "list the servers to sign in at", options: [available])
    package static let providerRemove = CommandDefinition(
        "provider", "remove", summary: "forget a server and its client secret", operands: [provider])
    private static let schemeName = CommandOperand.required("SCHEME", help: "such as com.example.app")
    package static let schemeAdd = CommandDefinition(
        "scheme", "add", summary: "have the desktop hand over responses at a private-use scheme",
        operands: [schemeName], options: [anyScheme],
        details: """
            By a private-use scheme the browser hands over the response of a sign-in where no loopback address is possible.
            This writes a desktop entry of this user's alone, and makes it the scheme's default in mimeapps.list. A
            sign-in whose redirect has the scheme then gets its response by it. Such a response stands on the command
            lines of the browser's helpers for a moment, and is useless without the verifier that only the sign-in has; a
            loopback redirect, which needs no entry, keeps it off them.
            """)
    package static let schemeList = CommandDefinition(
        "scheme", "list", summary: "list the schemes that have an entry")
    package static let schemeRemove = CommandDefinition(
        "scheme", "remove", summary: "take the desktop entry of a scheme away", operands: [schemeName])
    package static let schemeReceive = CommandDefinition(
        "scheme", "receive", summary: "hand a response to the sign-in that waits for it",
        operands: [.required("URL", help: "where the browser ended")],
        details: "For the desktop entry, which starts it. Exit status 1: no sign-in waits for that response.")

    /// Not for the network, but for libcrypto, which `latchkey` doesn't load either.
    package static let importing = CommandDefinition(
        "import", topic: .stores,
        summary: "import what another program stores in a file or in a collection of the keyring",
        operands: [.optional("FILE", help: "its file, where it isn't the usual one; or the collection's name")],
        options: [
            importSource, sourcePassphrase, TransferCommand.replace, TransferCommand.dryRun, emptySource, importItems,
        ],
        details: """
            git: git credential-store's file. gcm: what Git Credential Manager keeps in the keyring and in the
            folder of its plain-text store. docker: the logins in config.json and in the keyring; FILE may be
            podman's auth.json. cargo: the tokens in credentials.toml and in the keyring. netrc: the logins of
            .netrc, for git and Go; curl and others read the file alone. pypirc: the passwords of .pypirc, for twine
            by way of Python keyring. gh: hosts.yml of GitHub's command line. python-keyring: the plain-text file of
            keyrings.alt. libsecret-file: the encrypted file of libsecret and oo7, whose passphrase is asked for.
            gnome-keyring-collection: a collection of the keyring, with what git, Git Credential Manager, docker and
            cargo keep there; with --items, everything as it is, for programs that find it in a vault that is served as
            a keyring. With FILE, gcm, docker and cargo leave the keyring out.

            What is read goes to the store that is used, each credential is read back, and the source is left as it is.
            It is stored under gh:HOST, docker:URL, cargo:URL with the account token, or git:URL (of git, gcm and netrc).
            --empty-source then removes the secrets from the plain-text file, and nothing else. The file stays unchanged if
            import skipped an entry: a login that is there twice, an account of .netrc, a comment with a password. It stays
            unchanged, too, if another program has changed it. For gcm the files are deleted. The keyring's items stay.
            The disk keeps the old content until it is overwritten.

            Exit status 1: nothing to import; 73: the store has another secret for an entry and --replace is missing, or the
            file can't be written; 77: the secrets are still in the file.
            """)

    package static let all = [
        signIn, signOut, accounts, use, token, request, providerAdd, providerList, providerRemove,
        schemeAdd, schemeList, schemeRemove, schemeReceive, importing,
    ]
}
