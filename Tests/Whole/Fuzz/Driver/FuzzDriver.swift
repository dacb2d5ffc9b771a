#if Fuzzing
    internal import Glibc

    // libFuzzer's entry (compiler-rt, FuzzerInterface.h); the toolchain has no module for it.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<Int32>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    /// Set once, before the driver starts; it calls from one thread.
    nonisolated(unsafe) private var check: ([UInt8]) -> Void = { _ in }

    /// Runs `body` on inputs that libFuzzer makes, as its arguments say, and ends the process.
    public func runFuzzer(_ body: @escaping ([UInt8]) -> Void) -> Never {
        unsafe check = body
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        let status = unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
            unsafe arguments.withMemoryRebound(
                to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self, capacity: 1
            ) { arguments in
                unsafe runDriver(&count, arguments) { data, byteCount in
                    unsafe check(Array(UnsafeBufferPointer(start: data, count: byteCount)))
                    return 0
                }
            }
        }
        exit(status)
    }
#endif
