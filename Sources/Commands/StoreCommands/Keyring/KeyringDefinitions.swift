package import LatchkeyTerminal

/// The commands around the served keyring. They are defined here, so that `latchkey` can check a command line and show
/// its help; `latchkey-keyring` runs them; `run` is begun by `latchkey`.
package enum KeyringDefinitions {
    package static let replace = CommandOption.flag(
        "--replace", help: "take the name over from the program that has it, if that allows it")
    package static let serve = CommandDefinition(
        "keyring", "serve", summary: "serve the vault as the desktop's keyring, until a signal ends it",
        options: [replace],
        details: """
            Any program that speaks the Secret Service (org.freedesktop.secrets on the session bus) has the vault for its
            keyring then: secret-tool, gh, Chromium, Python keyring, git's and docker's helpers. Everyone on the bus of this
            user can read and change all of it; sessions and keys of latchkey's own are never served.

            A vault that opens without a question is open at once. Otherwise its passphrase is asked for at the terminal, if
            there is one; else the keyring is locked until latchkey vault unlock. A key that a keyring keeps doesn't count, as
            this one might keep it. While it is locked, programs are told so; it isn't empty to them. Once open it stays open
            after latchkey vault lock, until a program asks for it to be locked, such as secret-tool lock, or it ends.

            --log-level info shows who read which item: its label, and the program's unit or path.
            """)

    package static let only = CommandOption.value(
        "--only", "SERVICE[/ACCOUNT]", repeats: true,
        help: "serve what this names, and nothing else; can only be read")
    package static let writable = CommandOption.flag("--writable", help: "let what --only names be changed, too")
    package static let run = CommandDefinition(
        "keyring", "run", summary: "run a program with the vault as its keyring, on a bus of its own",
        operands: [.rest("COMMAND", help: "the program and its arguments; write -- before it")],
        options: [only, writable],
        details: """
            Needs dbus-daemon, and neither a desktop nor systemd: in a container, in CI, over SSH. The program replaces latchkey,
            and has its terminal, signals and exit status. The bus and the keyring end when it does; what it leaves in the
            background has neither. A passphrase is asked for before it starts. DBUS_SESSION_BUS_ADDRESS names the bus. No
            other program is started on it on demand.

            --only: the program finds the items whose service is SERVICE, or only ACCOUNT's, and no others. That keeps it from
            what it doesn't look for. A program of yours could still open the vault itself, or ask on another bus, unless it
            can't see these: bubblewrap or a container makes a boundary of it. Latchkey's variables and CREDENTIALS_DIRECTORY are
            not handed on then.
            """)

    package static let enable = CommandDefinition(
        "keyring", "enable", summary: "have the session bus start the served keyring when a program asks for one",
        details: """
            Writes two files of yours: $XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service for the session bus, which
            goes before the system's, and $XDG_CONFIG_HOME/systemd/user/latchkey-keyring.service for systemd's user manager,
            which is used where that runs. --vault goes into them. What others wrote stays: it is an error.
            """)
    package static let disable = CommandDefinition(
        "keyring", "disable", summary: "take away what keyring enable wrote, and nothing else",
        details: "A keyring that is being served goes on until it ends.")
    package static let agent = CommandDefinition(
        "keyring", "agent",
        summary: "ask for the passphrase at this terminal when a program wants the keyring unlocked",
        details: """
            Goes on until a signal ends it, or the keyring does. What is typed goes to the keyring alone, and not over the bus.
            Without such a terminal the keyring stays locked until latchkey vault unlock, and programs are told so at once.
            """)
    package static let status = CommandDefinition(
        "keyring", "status", summary: "show which program serves the keyring, from which vault, to whom",
        details: "It asks nobody and starts nothing. Exit status 1: no program serves a keyring on this bus.")

    package static let all = [serve, run, enable, disable, agent, status]
}
