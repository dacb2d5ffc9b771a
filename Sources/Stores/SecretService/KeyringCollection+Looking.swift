#if Desktop
    internal import Credentials

    /// What a search for a key found.
    struct FoundItems: Sendable {
        let paths: [String]
        /// Where the only item was asked about already, what it will answer.
        let look: EarlyLook?
    }

    /// Questions about an item that are under way.
    struct EarlyLook: Sendable {
        let path: String
        let properties: Pending<AsyncAnswer>
        let secret: Pending<AsyncAnswer>?
    }

    extension KeyringCollection {
        /// Searches for the items of a key, and asks the only one for its description, and if wanted for its secret.
        ///
        /// An item that was the only one at the last search is asked together with the search: one round trip instead of
        /// two. Its answers count only when the search finds it again, and it alone.
        func find(
            _ key: CredentialKey, withSecret: Bool, _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> FoundItems {
            let path = try await path(session, interruption)
            try interruption.check()
            let searching = session.start(
                .searchItems, on: path, [.strings(ItemAttributes.made(for: key))], interruption)
            let place = KeyringSession.Place(collection: path, key: key)
            let guess = session.lastFound[place].map { look(at: $0, withSecret, session, interruption) }
            let paths = try await onCollection { () async throws(KeyringFailure) in
                try await session.finish(searching, interruption)
            }[0].texts
            guard paths.count == 1 else { return FoundItems(paths: paths, look: nil) }
            if let guess, guess.path == paths[0] { return FoundItems(paths: paths, look: guess) }
            session.remember(paths[0], at: place)
            return FoundItems(paths: paths, look: look(at: paths[0], withSecret, session, interruption))
        }

        private func look(
            at path: String, _ withSecret: Bool, _ session: KeyringSession, _ interruption: Interruption
        ) -> EarlyLook {
            let arguments = [Variant.string(BusName.itemInterface.description)]
            return EarlyLook(
                path: path, properties: session.start(.getAllProperties, on: path, arguments, interruption),
                secret: withSecret ? startSecret(at: path, session, interruption) : nil)
        }

        /// Describes the items that were found and are still there.
        func describe(
            _ found: FoundItems, _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> [KeyringItem] {
            guard let look = found.look else { return try await describe(found.paths, session, interruption) }
            guard let properties = try await session.finishIfThere(look.properties, interruption)?[0] else { return [] }
            guard let item = KeyringItem(path: look.path, properties) else { throw .store(.keyringBrokeProtocol) }
            return [item]
        }
    }

    extension KeyringSession {
        /// A key in a collection, as the collection is called.
        struct Place: Hashable {
            let collection: String
            let key: CredentialKey
        }

        private static let mostRemembered = 4096

        func remember(_ path: String, at place: Place) {
            if lastFound.count >= Self.mostRemembered { lastFound = [:] }
            lastFound[place] = path
        }
    }
#endif
