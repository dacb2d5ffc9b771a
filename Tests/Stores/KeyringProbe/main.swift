// Uses the Secret Service store on the session bus of its environment, as a test on another process tells it to: a
// process keeps one connection to one bus for life, so each test needs a process of its own.
//
// One command a line on standard input, its words separated by tabs; one line of answer on standard output each.
internal import Glibc

let probe = Probe(
    runtimeDirectory: unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? "/nonexistent")
while let line = readLine(strippingNewline: true) {
    let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    print(await probe.answer(words))
    fflush(nil)
}
