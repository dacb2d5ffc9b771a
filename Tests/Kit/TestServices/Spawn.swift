internal import CTestProcess
internal import Foundation

/// The one place that starts a process.
enum Spawn {
    /// A controlling terminal, which may take the place of the standard streams as well.
    struct Terminal {
        let path: String
        let takesStreams: Bool
    }

    /// Starts a program in a session of its own: no controlling terminal unless one is given, one process group to end
    /// it by, default signal dispositions, and no file descriptor beyond the three given.
    static func process(
        path: String, arguments: [String], environment: [String: String],
        input: Int32, output: Int32, errorOutput: Int32, folder: String, terminal: Terminal? = nil
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addchdir_np(&actions, folder)
        if let terminal {
            // The first terminal that a session's leader opens becomes the session's.
            unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal.path, O_RDWR, 0)
        }
        if terminal?.takesStreams == true {
            for target in [Int32(1), 2] { unsafe posix_spawn_file_actions_adddup2(&actions, 0, target) }
        } else {
            for (descriptor, target) in [(input, Int32(0)), (output, 1), (errorOutput, 2)] {
                unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, target)
            }
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var every = sigset_t()
        unsafe sigfillset(&every)
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &every)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(Int32(latchkey_spawn_setsid) | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var argv = unsafe ([path] + arguments).map { unsafe strdup($0) }
        unsafe argv.append(nil)
        var envp = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
        unsafe envp.append(nil)
        defer {
            unsafe argv.forEach { unsafe free($0) }
            unsafe envp.forEach { unsafe free($0) }
        }
        var pid: pid_t = 0
        var status = unsafe posix_spawn(&pid, path, &actions, &attributes, argv, envp)
        // A test that has just written this program may have forked in another thread meanwhile: until that child
        // executes its own program, it has the file open for writing.
        for _ in 0..<1000 where status == ETXTBSY {
            usleep(1000)
            status = unsafe posix_spawn(&pid, path, &actions, &attributes, argv, envp)
        }
        guard status == 0 else { throw ServiceFailure("\(path) didn't start: errno \(status)") }
        return pid
    }
}
