internal import CTestProcess
internal import Foundation
internal import Synchronization

/// Ends the programs and removes the directories that a crashed or killed test run leaves behind.
///
/// A small shell holds the reading end of a pipe; the writing end is only in this process, so the shell sees the end
/// of the file when this process is gone for whatever reason. Until then it is told what to hold and what was freed.
final class Leash: Sendable {
    static let shared = Leash()

    private let pipe: Mutex<Int32>
    private let shell: pid_t?

    init() {
        let (shell, descriptor) = Self.startShell()
        self.shell = shell
        pipe = Mutex(descriptor)
    }

    func hold(process: pid_t) { tell("+pid \(process)") }
    func free(process: pid_t) { tell("-pid \(process)") }
    func hold(directory: String) { tell("+dir \(directory)") }
    func free(directory: String) { tell("-dir \(directory)") }

    /// What the end of this process does.
    ///
    /// The shell is waited for: a child that nobody waits for would hide all others from who waits for any, as Swift
    /// Testing does for its exit tests.
    func letGo() {
        pipe.withLock { descriptor in
            close(descriptor)
            descriptor = -1
        }
        if let shell { while waitpid(shell, nil, 0) < 0 && errno == EINTR {} }
    }

    /// Lines are shorter than PIPE_BUF, so each is written whole.
    private func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        pipe.withLock { descriptor in
            guard descriptor >= 0 else { return }
            _ = unsafe write(descriptor, bytes, bytes.count)
        }
    }

    private static let script = """
        trap '' INT TERM HUP
        pids=' ' dirs=' '
        while read -r what which; do
            case $what in
                +pid) pids="$pids$which " ;;
                +dir) dirs="$dirs$which " ;;
                -pid) pids="${pids%% "$which" *} ${pids#* "$which" }" ;;
                -dir) dirs="${dirs%% "$which" *} ${dirs#* "$which" }" ;;
            esac
        done
        for pid in $pids; do kill -KILL "-$pid"; done
        for dir in $dirs; do case $dir in /tmp/lk-* | /dev/shm/lk-*) rm -rf -- "$dir" ;; esac; done
        """

    private static func startShell() -> (pid_t?, Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { return (nil, -1) }
        defer { close(ends[0]) }
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let shell = try? Spawn.process(
            path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": Program.searchPath],
            input: ends[0], output: null, errorOutput: null, folder: "/")
        guard let shell else {
            close(ends[1])
            return (nil, -1)
        }
        return (shell, ends[1])
    }
}
