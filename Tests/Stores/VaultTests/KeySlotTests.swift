import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

@Suite struct KeySlotTests {
    @Test func `a vault opens with its original passphrase`() async throws {
        let folder = try VaultFolder()
        let made = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("correct horse"), cost: .cheap)
        try await made.save(secret("s3cret"), for: key("ada"))
        let opened = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("correct horse"))
        #expect(try await opened.text(key("ada")) == "s3cret")
    }

    @Test func `a wrong passphrase has a distinct error and leaves the file unchanged`() async throws {
        let folder = try VaultFolder()
        let made = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("correct horse"), cost: .cheap)
        try await made.save(secret("s3cret"), for: key("ada"))
        let before = try folder.contents()
        for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horse\0"] {
            let error = await refusal { () async throws(StoreError) in
                try await VaultStore.open(at: folder.vault, unlockedBy: passphrase(wrong))
            }
            #expect(error?.code == .wrongKey)
        }
        #expect(try folder.contents() == before)
        #expect(folder.names == ["vault", "vault-journal"])
    }

    @Test func `an empty passphrase makes no vault`() async throws {
        let folder = try VaultFolder()
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.create(at: folder.vault, unlockedBy: passphrase(""), cost: .cheap)
        }
        #expect(error?.code == .wrongKey && folder.names.isEmpty)
    }

    @Test func `a wrong key file has a distinct error and leaves the file unchanged`() async throws {
        let folder = try VaultFolder()
        try await folder.store().save(secret("s3cret"), for: key("ada"))
        let before = try folder.contents()
        try VaultKeyFile.create(at: folder.path + "/other")
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.path + "/other"))
        }
        #expect(error?.code == .wrongKey)
        #expect(try folder.contents() == before)
    }
}

extension KeySlotTests {
    @Test func `a vault opens with each of its slots, by passphrase and by key file`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("s3cret"), for: key("ada"))
        try await store.addSlot(passphrase("one"), name: KeySlotName("first")!, cost: .cheap)
        try await store.addSlot(passphrase("two"), name: KeySlotName("second")!, cost: .cheap)
        for word in ["one", "two"] {
            let opened = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase(word))
            #expect(try await opened.text(key("ada")) == "s3cret")
        }
        let slots = try await store.slots()
        #expect(Set(slots.map(\.name.text)) == ["key file", "first", "second"])
        #expect(slots.filter { $0.kind == .passphrase }.allSatisfy { $0.cost == .cheap })
    }

    @Test func `a removed slot no longer opens the vault, and the last slot stays`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(passphrase("one"), name: .passphrase, cost: .cheap)
        #expect(try await store.removeSlot(.keyFile))
        #expect(try await store.removeSlot(.keyFile) == false)
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .wrongKey)
        let last = await refusal { () async throws(StoreError) in try await store.removeSlot(.passphrase) }
        #expect(last?.code == .conflict)
        _ = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("one"))
    }

    @Test func `each slot's name is unique, and a vault has at most 128 slots`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let twice = await refusal { () async throws(StoreError) in
            try await store.addSlot(.keyFile(folder.keyFile), name: .keyFile)
        }
        #expect(twice?.code == .conflict)
        func addSlot(_ number: Int) async throws(StoreError) {
            let file = "\(folder.path)/\(number)"
            try VaultKeyFile.create(at: file)
            try await store.addSlot(.keyFile(file), name: KeySlotName("\(number)")!)
        }
        for number in 1..<128 { try await addSlot(number) }
        let tooMany = await refusal { () async throws(StoreError) in try await addSlot(128) }
        #expect(tooMany?.code == .conflict)
        #expect(try await folder.store().slots().count == 128)
    }

    @Test func `a key is the key of one slot, so that a removed key no longer opens the vault`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(passphrase("one"), name: .passphrase, cost: .cheap)
        let again = KeySlotName("again")!
        let file = await refusal { () async throws(StoreError) in
            try await store.addSlot(.keyFile(folder.keyFile), name: again)
        }
        #expect(file?.code == .conflict && "\(file!)".contains("the key slot \"key file\" already has this key"))
        let word = await refusal { () async throws(StoreError) in
            try await store.addSlot(passphrase("one"), name: again, cost: .cheap)
        }
        #expect(word?.code == .conflict && "\(word!)".contains("the key slot \"passphrase\" already has this key"))
        // The slot that goes may have had it.
        try await store.addSlot(.keyFile(folder.keyFile), name: again, replacing: .keyFile)
        try await store.addSlot(passphrase("one"), name: .passphrase, replacing: .passphrase, cost: .cheap)
        #expect(Set(try await store.slots().map(\.name)) == [again, .passphrase])
    }

    @Test func `an open store sees the slots that another adds, and continues`() async throws {
        let folder = try VaultFolder()
        let (one, two) = (try await folder.store(), try await folder.store())
        try await one.addSlot(passphrase("new"), name: .passphrase, cost: .cheap)
        #expect(try await two.slots().count == 2)
        try await two.save(secret("s"), for: key("ada"))
        #expect(try await one.text(key("ada")) == "s")
        #expect(try await one.verify().problems == [])
    }

    @Test func `deriving a passphrase's key stops at the deadline`() async throws {
        let folder = try VaultFolder()
        let cost = try PassphraseCost(memoryByteCount: 256 << 20, passes: 16)
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.create(
                at: folder.vault, unlockedBy: passphrase("p"), cost: cost, deadline: .after(.milliseconds(20)))
        }
        #expect(error?.code == .timedOut)
    }

    @Test(arguments: [(4 << 20, 1), (2 << 30, 1), (64 << 20, 0), (64 << 20, 17), ((64 << 20) + 1, 3)])
    func `costs outside the bounds are refused`(_ memory: Int, _ passes: Int) {
        #expect(throws: StoreError.self) { try PassphraseCost(memoryByteCount: memory, passes: passes) }
    }
}

extension KeySlotTests {
    @Test func `a passphrase is changed in one commit`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(passphrase("old"), name: .passphrase, cost: .cheap)
        let before = try await store.verify().generation
        try await store.addSlot(passphrase("new"), name: .passphrase, replacing: .passphrase, cost: .cheap)
        #expect(try await store.verify().generation == before + 1)
        #expect(try await store.slots().count == 2)
        _ = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("new"))
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("old"))
        }
        #expect(error?.code == .wrongKey)
    }

    @Test func `replacing works if all 128 slots are used, and for the only one`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(.keyFile(folder.keyFile), name: KeySlotName("0")!, replacing: .keyFile)
        for number in 1...128 {
            let file = "\(folder.path)/\(number)"
            try VaultKeyFile.create(at: file)
            try await store.addSlot(
                .keyFile(file), name: KeySlotName("\(number)")!, replacing: number < 128 ? nil : KeySlotName("7")!)
        }
        #expect(try await Set(store.slots().map(\.name.text)) == Set((0...128).map(String.init)).subtracting(["7"]))
    }

    @Test func `a replacement that is refused keeps the old slot`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
        let before = try folder.contents()
        let (absent, taken) = (KeySlotName("absent")!, KeySlotName.keyFile)
        for (old, name) in [(absent, KeySlotName("new")!), (.passphrase, taken)] {
            let error = await refusal { () async throws(StoreError) in
                try await store.addSlot(.keyFile(folder.keyFile), name: name, replacing: old)
            }
            #expect(error?.code == .conflict)
        }
        #expect(try folder.contents() == before)
    }
}
