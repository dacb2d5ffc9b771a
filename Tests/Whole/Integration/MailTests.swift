import Foundation
import Testing
import TestServices

/// Mail programs with the settings of Docs/HowTo/tokens.md, at a dovecot that asks the authorization server whether a token
/// is good (RFC 7662).
@Suite struct MailTests {
    private let setting: RealServerTests.Setting
    private let server: MailServer
    private let environment: [String: String]
    private var directory: TestDirectory { setting.terminal.directory }

    init() async throws {
        setting = try await RealServerTests.Setting(.vault, client: Glewlwyd.confidentialClient)
        try await setting.terminal.run(["sign-in", "work"])
        server = try await MailServer(
            in: setting.terminal.directory, introspection: setting.issuer + "/introspect",
            client: Glewlwyd.confidentialClient, secret: Glewlwyd.confidentialSecret)
        var environment = setting.terminal.environment
        let programs = try setting.terminal.directory.makeFolder("programs")
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/latchkey", withDestinationPath: BuiltProducts.latchkey().path)
        environment["PATH"] = programs + ":" + Program.searchPath
        self.environment = environment
    }

    /// A setting of the page, with this test's session in place of gmail's.
    private func setting(of program: String) throws -> [String] {
        let page = try String(
            contentsOf: TestData.package.appendingPathComponent("Docs/HowTo/tokens.md"), encoding: .utf8)
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| \(program) |") })
        return row.matches(of: /`([^`]+)`/).map { String($0.output.1).replacing("token gmail", with: "token work") }
    }

    private func configure(msmtp lines: [String]) throws {
        let home = try #require(environment["HOME"])
        try """
        account default
        host 127.0.0.1
        port \(server.submissionPort)
        from \(Glewlwyd.user)@example.org
        user \(Glewlwyd.user)
        tls off
        \(lines.joined(separator: "\n"))

        """.write(toFile: home + "/.msmtprc", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home + "/.msmtprc")
    }

    @Test func `msmtp and git send mail, and mbsync, mutt and neomutt read it, with tokens of the session`()
        async throws
    {
        let msmtp = try setting(of: "msmtp")
        #expect(msmtp.count == 2)
        try configure(msmtp: msmtp)
        try await Program("msmtp").run(
            ["bob@example.org"], environment: environment,
            input: Array("Subject: of msmtp\n\nhello\n".utf8)
        ).successful("msmtp")
        try await server.sink.wait(for: "the message") { server.sink.outputSoFar.contains("Subject: of msmtp") }

        let git = try #require(try setting(of: "git send-email").first)
        let patch = try directory.write("0001.patch", "From: a <a@example.org>\nSubject: [PATCH] of git\n\nx\n---\n")
        try await Program("bash").run(
            [
                "-c",
                "set -e; git init -q repository; cd repository; git config user.name a; git config user.email a@example.org; \(git); exec git send-email --quiet --confirm=never "
                    + "--from=alice@example.org --to=bob@example.org --no-signed-off-by-cc --suppress-cc=all \"$1\"",
                "bash", patch,
            ], environment: environment, folder: directory.path
        ).successful("git send-email")
        try await server.sink.wait(for: "the patch") { server.sink.outputSoFar.contains("[PATCH] of git") }

        try server.deliver("Subject: for mbsync\n\nhello\n")
        try directory.makeFolder("near")
        let sync = try directory.write(
            "mbsyncrc",
            """
            IMAPAccount work
            Host localhost
            Port \(server.imapPort)
            User \(Glewlwyd.user)
            SSLType IMAPS
            CertificateFile \(server.authority)
            \(try setting(of: "mbsync").joined(separator: "\n"))

            IMAPStore far
            Account work

            MaildirStore near
            Inbox \(directory / "near/INBOX")

            Channel work
            Far :far:
            Near :near:
            Create Near
            SyncState *

            """)
        try await Program("mbsync").run(["--config", sync, "--all"], environment: environment).successful("mbsync")
        let found = try await Program("grep").run(["-rl", "for mbsync", directory / "near"])
        #expect(found.status == 0)

        let mutt = try directory.write(
            "muttrc",
            """
            set imap_user="\(Glewlwyd.user)"
            set ssl_ca_certificates_file="\(server.authority)"
            \(try setting(of: "mutt, neomutt").joined(separator: "\n"))
            set folder="imaps://localhost:\(server.imapPort)/" spoolfile="+INBOX"

            """)
        let tmux = try await Tmux(columns: 100, rows: 30, in: directory, environment: environment)
        for program in ["mutt", "neomutt"] {
            let screen = try await tmux.start("TERM=xterm \(program) -n -F '\(mutt)'")
            try await screen.waitUntilShown("for mbsync")
        }
        #expect(try server.log().contains("method=XOAUTH2"))
    }

    @Test func `a revoked token opens no mailbox`() async throws {
        let token = try await setting.token()
        try await setting.terminal.run(["sign-out", "work"])
        try directory.write("token", token)
        try configure(msmtp: ["auth xoauth2", "passwordeval cat \(directory / "token")"])
        let run = try await Program("msmtp").run(
            ["bob@example.org"], environment: environment, input: Array("Subject: late\n\nhello\n".utf8))
        #expect(run.status == 77 && run.errorText.contains("authentication failed"), "\(run.errorText)")
        #expect(!server.sink.outputSoFar.contains("late"))
    }
}

/// dovecot for one user, with IMAP and a submission server that relays to a sink.
final class MailServer: Sendable {
    let imapPort: UInt16
    let submissionPort: UInt16
    /// The file of the certificate to trust.
    let authority: String
    let sink: RunningProgram
    private let directory: TestDirectory
    private let folder: String
    private let dovecot: RunningProgram

    init(in directory: TestDirectory, introspection: String, client: String, secret: String) async throws {
        self.directory = directory
        sink = try Program("/usr/bin/python3").start([
            TestData.folder().appendingPathComponent("Fixtures/smtp_sink.py").path
        ])
        let sink = sink
        try await sink.wait(for: "its port") { sink.outputSoFar.contains("\n") }
        folder = try directory.makeFolder("mail")
        let certificates = try await CertificateAuthority(in: directory)
        authority = certificates.certificate
        (imapPort, submissionPort) = (try LoopbackPort.free(), try LoopbackPort.free())
        for name in ["run", "state", "box", "box/cur", "box/new", "box/tmp"] {
            try directory.makeFolder("mail/" + name)
        }
        let isRoot = geteuid() == 0
        if isRoot {
            // dovecot's processes are others' then, and have to get here.
            try await Program("chmod").run(["711", directory.path, folder]).successful("chmod")
            try await Program("chown").run(["-R", "nobody", folder + "/box"]).successful("chown")
        }
        let me = NSUserName()
        let users =
            isRoot ? "" : "default_login_user = \(me)\ndefault_internal_user = \(me)\ndefault_internal_group = \(me)"
        let encoded = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let address = introspection.replacing("http://", with: "http://\(client):\(encoded)@")
        let oauth = try directory.write(
            "mail/oauth2.conf",
            """
            introspection_url = \(address)
            introspection_mode = post
            username_attribute = username
            active_attribute = active
            active_value = true

            """)
        let configuration = try directory.write(
            "mail/dovecot.conf",
            """
            base_dir = \(folder)/run
            state_dir = \(folder)/state
            log_path = \(folder)/log
            protocols = imap submission
            listen = 127.0.0.1
            ssl = required
            ssl_cert = <\(certificates.serverChain)
            ssl_key = <\(certificates.serverKey)
            auth_mechanisms = xoauth2 oauthbearer
            mail_location = maildir:\(folder)/box
            first_valid_uid = 1
            \(users)
            passdb {
              driver = oauth2
              mechanisms = xoauth2 oauthbearer
              args = \(oauth)
            }
            userdb {
              driver = static
              args = uid=\(isRoot ? "nobody" : me) gid=\(isRoot ? "nogroup" : me) home=\(folder)/box
            }
            service imap-login {
              chroot =
              inet_listener imap {
                port = 0
              }
              inet_listener imaps {
                port = \(imapPort)
              }
            }
            service submission-login {
              chroot =
              inet_listener submission {
                port = 0
              }
              inet_listener submissions {
                port = \(submissionPort)
              }
            }
            service anvil {
              chroot =
            }
            submission_relay_host = 127.0.0.1
            submission_relay_port = \(sink.outputSoFar.prefix { $0 != "\n" })
            hostname = localhost

            """)
        dovecot = try Program("/usr/sbin/dovecot").start(["-F", "-c", configuration])
        let dovecot = dovecot
        try await dovecot.wait(for: "its start") { (try? directory.read("mail/log"))?.isEmpty == false }
    }

    func deliver(_ message: String) throws {
        try directory.write("mail/box/new/1.test", message, mode: 0o644)
    }

    func log() throws -> String { String(decoding: try directory.read("mail/log"), as: UTF8.self) }

    deinit {
        dovecot.signal(15)
        sink.kill()
    }
}
