internal import LatchkeySecrets

extension LiveSecrets {
    /// The tokens, codes and passwords that this process handles, without anybody watching each: every ``Secret`` of
    /// such a purpose that is made after the first use of this property is known, and stays known after its end, until
    /// a thousand others were made; of a long one its first 4 KiB. For programs, which use it once at their start:
    ///
    ///     let log = RedactedLogger("shop", sink: ScrubbingLogSink(over: TextLogSink(), secrets: .ofThisProcess))
    ///
    /// Keys and whole messages are left out: a session's text holds addresses too, which any line may.
    public static let ofThisProcess: LiveSecrets = {
        let live = LiveSecrets()
        SecretNotice.listen { purpose, bytes in
            guard purposes.contains(purpose) else { return }
            live.remember(bytes, amongTheLast: rememberedCount)
        }
        return live
    }()

    /// How many secrets `ofThisProcess` keeps in mind.
    static let rememberedCount = 1000

    private static let purposes = [
        ObjectIdentifier(AccessToken.self), ObjectIdentifier(RefreshToken.self), ObjectIdentifier(IDToken.self),
        ObjectIdentifier(AuthorizationCode.self), ObjectIdentifier(CodeVerifier.self),
        ObjectIdentifier(AuthorizationState.self),
        ObjectIdentifier(OpenIDNonce.self), ObjectIdentifier(DeviceCode.self), ObjectIdentifier(ClientSecret.self),
        ObjectIdentifier(Passphrase.self), ObjectIdentifier(Password.self),
    ]
}
