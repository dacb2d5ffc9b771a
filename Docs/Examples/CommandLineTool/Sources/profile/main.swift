import Glibc
import Latchkey
import ProfileKit

_ = ProcessHardening.apply()  // first: no core dump, and no other process of this user may read the memory

let environment = ProgramEnvironment.current()
let sink = ScrubbingLogSink(over: TextLogSink(), secrets: .ofThisProcess)
let log = RedactedLogger("profile", minimumLevel: .warning, sink: sink)

let command = CommandLine.arguments.dropFirst().first

do {
    let gitHub = try OAuthProvider.gitHub(clientID: "Ov23liExampleOnly", scopes: ["read:user"])
    if command == "redirect-uri" {
        print(gitHub.redirect.text)
        exit(0)
    }
    let profile = try await Profile(at: gitHub, address: "https://api.github.com/user", in: environment, log: log)
    switch command {
    case "sign-in": print("signed in as \(try await profile.signIn(presenting: .automatic(in: environment)))")
    case "show": try await profile.show()
    case "sign-out": try await profile.signOut()
    default: print("signed in as \(try await profile.account() ?? "nobody"); profile sign-in | show | sign-out")
    }
} catch {
    print("profile: \(error)")  // a code and a cause; no error of Latchkey's holds a token
    exit(1)
}
