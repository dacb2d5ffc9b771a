import Foundation
import Testing
import TestServices

/// ssh's tools ask for a key's passphrase (SSH_ASKPASS of ssh(1)).
@Suite struct AskpassHelperTests {
    @Test(arguments: HelperScene.Store.allCases)
    func `ssh-keygen and ssh-add open a key with the helper, and get a wrong passphrase only once`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(store)
        let key = scene.directory / "home/id"
        try await Program("ssh-keygen").run(["-q", "-t", "ed25519", "-N", "key's passphrase", "-f", key])
            .successful("ssh-keygen")
        try await scene.latchkey("set", "ssh:\(key)", "passphrase", input: "key's passphrase\n")
        let script = """
            export SSH_ASKPASS=$PWD/bin/latchkey-askpass SSH_ASKPASS_REQUIRE=force
            ssh-keygen -y -f home/id > public && cut -d ' ' -f 2 public | diff - <(cut -d ' ' -f 2 home/id.pub)
            ssh-keygen -y -f "$PWD/home/id" > public
            eval "$(ssh-agent)" > agent; trap 'kill $SSH_AGENT_PID' EXIT
            ssh-add "$PWD/home/id" && ssh-add -l && ssh-add -q -D && ssh-add -c "$PWD/home/id"
            """
        let run = try await scene.shell(script)
        #expect(run.status == 0 && run.outputText.contains("(ED25519)"), "\(run.errorText)")
        try await scene.latchkey("set", "ssh:\(key)", "passphrase", input: "wrong")
        let wrong = try await scene.shell(script)
        #expect(!wrong.outputText.contains("(ED25519)"))
    }

    @Test func `the helper answers no other question`() async throws {
        let scene = try await HelperScene()
        try await scene.latchkey("set", "ssh:/home/ada/id", "passphrase", input: "of the key")
        let answered = try await scene.helper("latchkey-askpass", "Enter passphrase for key '/home/ada/id': ")
        #expect(answered.outputText == "of the key\n")
        for question in [
            "[sudo] password for ada: ", "ada@host's password: ", "Bad passphrase, try again for /home/ada/id: ",
            "Server says: Enter passphrase for key '/home/ada/id': ", "Enter passphrase for key '/home/ada/other': ",
            "Enter passphrase for id: ", "Password for 'https://example.org': ", "",
        ] {
            let run = try await scene.helper("latchkey-askpass", question)
            let isOther = question.hasPrefix("Enter passphrase for key '/home/ada/other'")
            let said =
                isOther
                ? "latchkey: no passphrase is stored for this key; to store it: latchkey set ssh:/home/ada/other passphrase\n"
                : "latchkey: Latchkey answers only ssh's first question for a key's passphrase, with the key's full path\n"
            #expect(run.status == 1 && run.output.isEmpty && run.errorText == said, "\(question): \(run.errorText)")
        }
        for prompt in ["confirm", "none"] {
            let run = try await scene.shell(
                "SSH_ASKPASS_PROMPT=\(prompt) latchkey-askpass \"Enter passphrase for key '/home/ada/id': \"")
            #expect(run.status == 1 && run.output.isEmpty && run.errorOutput.isEmpty)
        }
    }
}
