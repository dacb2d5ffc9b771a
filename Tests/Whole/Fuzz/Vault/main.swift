// Coverage-guided fuzzing of what a vault reads, with libFuzzer from the toolchain:
//
//     swift build --traits Fuzzing --scratch-path .build-fuzz -c release --product fuzz-vault \
//         -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld -Xswiftc -enable-testing
//     CHECK=metadata .build-fuzz/release/fuzz-vault -max_total_time=600 new Tests/Whole/Fuzz/Corpus/metadata
//     SAY=1 CHECK=metadata .build-fuzz/release/fuzz-vault FILE...
//
// CHECK is one of `VaultCheck`; what is found new goes to the first folder. `-merge=1` keeps what adds something. With
// `SAMPLES=FOLDER` it writes sound inputs to begin with. The ordinary tests run the same checks on the corpus.

#if Fuzzing
    internal import Dispatch
    internal import FuzzDriver
    internal import Glibc
    internal import VaultChecks

    private func setting(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    guard let check = setting("CHECK").flatMap(VaultCheck.init(rawValue:)) else {
        print("CHECK must be one of:", VaultCheck.allCases.map(\.rawValue).joined(separator: " "))
        exit(64)
    }
    var template = Array("/dev/shm/lk-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { exit(73) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)

    if let target = setting("SAMPLES") {
        for (number, sample) in try check.samples(in: folder).enumerated() {
            let descriptor = unsafe open("\(target)/sample-\(number)", O_WRONLY | O_CREAT | O_TRUNC, mode_t(0o644))
            precondition(unsafe write(descriptor, sample, sample.count) == sample.count)
            close(descriptor)
        }
        exit(0)
    }
    let says = setting("SAY") != nil
    runFuzzer { bytes in
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let isAccepted = try await check.run(bytes, in: folder)
                if says { print(isAccepted ? "accepted" : "refused") }
            } catch {
                // A check that throws has failed: libFuzzer keeps the input of a process that crashes.
                fatalError("\(error)")
            }
            done.signal()
        }
        done.wait()
    }
#else
    print("fuzz-vault: build with --traits Fuzzing; see Tests/Whole/Fuzz/Vault/main.swift")
#endif
