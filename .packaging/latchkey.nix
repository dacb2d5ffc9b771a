# Makes a Nix package of this checkout: `pkgs.callPackage .packaging/latchkey.nix { swift = …; }`. It needs a Swift 6.3
# toolchain, which nixpkgs doesn't have: pass it, as a folder in the store with bin/swift.
{
  lib,
  stdenv,
  swift,
  lld,
  patchelf,
  pkg-config,
  curl,
  glib,
  libmicrohttpd,
  libpq,
  libsecret,
  libsodium,
  openssl,
  sqlite,
}:
stdenv.mkDerivation {
  pname = "latchkey";
  version = "0.2.0";
  src = lib.cleanSource ../.;

  nativeBuildInputs = [
    swift
    lld
    patchelf
    pkg-config
  ];
  buildInputs = [
    curl
    libmicrohttpd
    libsodium
    openssl
    sqlite
  ];

  postPatch = "patchShebangs .packaging";
  buildPhase = ".packaging/build --disable-sandbox --product latchkey";
  installPhase = ".packaging/install --prefix $out /";

  # The libraries that it loads when a command first needs them.
  postFixup = ''
    patchelf $out/bin/latchkey --add-rpath ${
      lib.makeLibraryPath [
        curl
        glib
        libmicrohttpd
        libpq
        libsecret
        openssl
      ]
    }
  '';

  meta = {
    description = "Store secrets and OAuth sign-ins in a keyring or an encrypted vault";
    license = lib.licenses.asl20;
    mainProgram = "latchkey";
    platforms = lib.platforms.linux;
  };
}
