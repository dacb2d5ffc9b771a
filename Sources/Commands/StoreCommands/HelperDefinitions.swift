package import LatchkeyTerminal

/// The commands that other tools start to ask for credentials. They are defined here, so that every program's help and
/// completions know them.
package enum HelperDefinitions {
    package static let git = CommandDefinition(
        "helper", "git", summary: "answer git, as git-credential-latchkey",
        operands: [.optional("VERB", help: "get, store, erase or capability")],
        details: """
            A credential helper of gitcredentials(7); latchkey setup git has git call it. What git stores is kept under
            git:PROTOCOL://HOST, as latchkey import --from git has it. Where nothing is stored for a host, and a session's
            token may go there, that is the answer, refreshed when it has expired. A session is never erased by it. Last
            comes what git-credential-libsecret or Git Credential Manager saved in the desktop's keyring, or in a vault that
            was served as one.

            Exit status 0: answered, or there is nothing.
            """)

    package static let docker = CommandDefinition(
        "helper", "docker", summary: "answer docker and podman, as docker-credential-latchkey",
        operands: [.required("VERB", help: "get, store, erase, list or version")],
        details: """
            A credential store of docker's configuration, where \"credsStore\": \"latchkey\" has docker and buildx call it;
            podman, skopeo and buildah call it by credential-helpers in a registries.conf. latchkey setup docker and
            latchkey setup podman write these. What they store is kept under docker:SERVER. Where nothing is stored for a
            registry, and a session's token may go there, that is the answer. Last comes what docker-credential-secretservice
            saved in the desktop's keyring, or in a vault that was served as one. What goes wrong stands on standard output,
            as docker wants it.

            Exit status 1: there is nothing, or something went wrong.
            """)
    package static let cargoPlugin = CommandOption.flag(
        "--cargo-plugin", help: "given by cargo; makes no difference")
    package static let cargo = CommandDefinition(
        "helper", "cargo", summary: "answer cargo, as cargo-credential-latchkey", options: [cargoPlugin],
        details: """
            A credential provider of cargo 1.74 and above: cargo login, publish and fetches from private registries call
            it. Tokens are kept under cargo:INDEX-URL, with the account token. What cargo:libsecret saved in the desktop's
            keyring, or in a vault that was served as one, is found as well. Errors are answers too, with exit status 0.
            """)
    package static let mode = CommandOption.value(
        "--mode", "MODE", form: .choice(["password", "creds"]), help: "password, or creds: the user's name too")
    package static let output = CommandOption.value(
        "--output", "FORMAT", form: .choice(["plain", "json"]), help: "plain or json (plain)")
    package static let keyring = CommandDefinition(
        "helper", "keyring", summary: "answer pip, uv and twine, as keyring",
        operands: [
            .choice("VERB", ["get", "set", "del"], help: "get, set or del"),
            .required("SERVICE", help: "an index's address, or any other service"),
            .optional("USER", help: "the user's name; get --mode creds finds it"),
        ],
        options: [mode, output],
        details: """
            As much of Python keyring's command as others call. get looks for the address, then for each path above it,
            then for the host, but not for an http address that leaves this machine. A secret to set comes from standard
            input; one line break at its end is no part of it.

            Python's package has a command of this name, so the link for pip, uv and twine that the Debian package brings is
            /usr/lib/latchkey/helpers/keyring.

            Exit status 1: there is nothing, which is not said, or something went wrong.
            """)

    package static let kubectl = CommandDefinition(
        "helper", "kubectl", summary: "answer kubectl with a session's token",
        operands: [.required("PROVIDER", help: "a name from latchkey provider list")],
        options: [SignInDefinitions.account],
        details: """
            A plugin of client.authentication.k8s.io, for the exec section of a kubeconfig's user: kubectl and other clients
            of Kubernetes call it. The server has to take the access tokens of PROVIDER.
            """)
    package static let aws = CommandDefinition(
        "helper", "aws", summary: "answer the AWS tools with an access key",
        operands: [.required("PROFILE", help: "a profile's name")],
        details: """
            For AWS's configuration: credential_process = latchkey helper aws PROFILE. The key is kept under aws:PROFILE; its
            id is the account, and the secret access key the secret. Where there are several, the one that was changed last
            is the answer.
            """)
    package static let go = CommandDefinition(
        "helper", "go", summary: "answer Go for private modules",
        operands: [.optional("URL", help: "what was refused; without it there is no answer")],
        details: """
            A command of GOAUTH, for Go 1.24 and above. What git has for the host is what Go gets: a stored password, the
            one with the longest path, or a session's token.
            """)
    package static let terraform = CommandDefinition(
        "helper", "terraform", summary: "answer Terraform and OpenTofu, as terraform-credentials-latchkey",
        operands: [
            .choice("VERB", ["get", "store", "forget"], help: "get, store or forget"),
            .required("HOST", help: "a host, such as app.terraform.io"),
        ],
        details: """
            A credentials helper: terraform-credentials-latchkey, a link to this program, has to be in ~/.terraform.d/plugins,
            and credentials_helper "latchkey" {} in ~/.terraformrc. A host's token is kept under terraform:HOST, with the account
            token. Where nothing is stored, and a session's token may go there, that is the answer.
            """)
    package static let askpass = CommandDefinition(
        "helper", "askpass", summary: "answer ssh for the passphrase of a key, as latchkey-askpass",
        operands: [.required("QUESTION", help: "what ssh, ssh-add or ssh-keygen asks")],
        details: """
            For SSH_ASKPASS. The passphrase of the key PATH is kept under ssh:PATH, with the account passphrase. Any other
            question, such as a server's or sudo's, gets no answer, with exit status 1: nothing else may ask for these.
            """)
    package static let systemd = CommandDefinition(
        "helper", "systemd", summary: "answer a unit's LoadCredential= on a socket",
        details: """
            Standard input and output are a connection that systemd made for a unit, which systemd's address names. The file
            systemd-credentials in the configuration's folder has a line for each: UNIT CREDENTIAL SERVICE ACCOUNT. Only root
            is answered. A unit that gets nothing has an empty credential: the journal says why.

            The Debian package has a socket, latchkey-credentials.socket: enabled, it starts this for each connection to
            /run/latchkey-credentials, with the vault /var/lib/latchkey/vault and the configuration in /etc/latchkey.
            """)

    package static let yes = CommandOption.flag("--yes", help: "write it without a question")
    package static let undo = CommandOption.flag("--undo", help: "take away what setup wrote, and nothing else")
    package static let printing = CommandOption.flag("--print", help: "show what would be written, and write nothing")
    package static let setup = CommandDefinition(
        "setup", topic: .helpers, summary: "have git, docker, podman, cargo, pip, uv, kubectl, aws or go ask Latchkey",
        operands: [
            .optional("TOOL", help: "git, docker, podman, cargo, pip, uv, kubectl, aws or go; without it, a list"),
            .optional("NAME", help: "aws: the profile (default); kubectl: the provider"),
        ],
        options: [yes, undo, printing],
        details: """
            Shows the change to the tool's configuration and asks before it writes. What was there stays, but for another
            credsStore of docker's, which --undo puts back; where something else stands in the way, nothing is written, and
            --print shows what to write by hand. --store and --vault go into the helper's command line for git, aws and go.
            docker, podman, cargo, pip and uv look for the helper on PATH: where it isn't, a link is made in ~/.local/bin.
            podman is for skopeo and buildah, too.

            Without TOOL: which tools ask Latchkey, and which files keep secrets in clear, with the command that moves them.

            A helper asks nobody anything: where a store is locked, the error on standard error says what unlocks it. Some are
            called by a name of their own, which is a link to latchkey.
            """)

    package static let all = [setup, git, docker, cargo, keyring, kubectl, aws, go, terraform, askpass, systemd]

    /// The helpers by the names that they can be called by, as links to latchkey.
    package static let programs: [(name: StaticString, command: CommandDefinition)] = [
        ("git-credential-latchkey", git), ("docker-credential-latchkey", docker),
        ("cargo-credential-latchkey", cargo), ("keyring", keyring), ("latchkey-askpass", askpass),
        ("terraform-credentials-latchkey", terraform),
    ]
}

extension CommandDefinition {
    /// Whether another program asks, which can't answer questions.
    package var isHelper: Bool { words[0].description == "helper" }
}
