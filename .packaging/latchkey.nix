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
  src = lib.cleanSourceWith {
    src = lib.cleanSource ../.;
    filter = path: _: baseNameOf path != ".build";
  };

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
  # Installing runs the program. Its libraries are the linked ones, and those that it loads when a command first needs them.
  buildPhase = ''
    .packaging/build --disable-sandbox --product latchkey
    patchelf .build/release/latchkey --set-interpreter "$(cat $NIX_CC/nix-support/dynamic-linker)" --set-rpath ${
      lib.makeLibraryPath [
        curl
        glib
        libmicrohttpd
        libpq
        libsecret
        libsodium
        openssl
        sqlite
      ]
    }
  '';
  installPhase = ".packaging/install --prefix $out /";
  # It would remove the folders of the libraries that aren't linked.
  dontPatchELF = true;

  meta = {
    description = "Store secrets and OAuth sign-ins in a keyring or an encrypted vault";
    license = lib.licenses.asl20;
    mainProgram = "latchkey";
    # Nothing was compiled for another one.
    platforms = [ "x86_64-linux" ];
  };
}
