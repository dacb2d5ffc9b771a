import Latchkey
import ProfileKit

_ = ProcessHardening.apply()  // first: no core dump, and no other process of this user may read the memory

let environment = ProgramEnvironment.current()
let sink = ScrubbingLogSink(over: TextLogSink(), secrets: .ofThisProcess)
let log = RedactedLogger("profile", minimumLevel: .warning, sink: sink)

do {
    let profile = try await Profile(
        at: .gitHub(clientID: "Ov23liExampleOnly", scopes: ["read:user"]), address: "https://api.github.com/user",
        in: environment, log: log)
    switch CommandLine.arguments.dropFirst().first {
    case "sign-in": print("signed in as \(try await profile.signIn(presenting: .automatic(in: environment)))")
    case "show": try await profile.show()
    case "sign-out": await profile.signOut()
    default: print("signed in as \(try await profile.account() ?? "nobody"); profile sign-in | show | sign-out")
    }
} catch {
    print("profile: \(error)")  // a code and a cause; no error of Latchkey's holds a token
}
