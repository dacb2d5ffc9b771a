import Foundation
import Testing
import TestServices

/// The documentation site, built by its one command from the modules of this build.
@Suite struct SiteTests {
    @Test func `every link of every page leads to a page, and to a heading where it names one`() async throws {
        let site = try await Site.built.value
        let pages = try site.pages()
        #expect(pages.count > 1500)
        var followed = 0
        for (path, page) in pages {
            for link in page.links {
                followed += 1
                let parts = link.split(separator: "#", maxSplits: 1).map(String.init)
                let target = pages[parts[0].lowercased()]
                #expect(target != nil, "\(path) links to \(link)")
                if parts.count == 2, let target {
                    let isThere = target.anchors.contains(parts[1].removingPercentEncoding ?? "")
                    #expect(isThere, "\(path) links to \(link)")
                }
            }
            #expect(site.has("\(path)/index.html"), "\(path)")
            for file in page.files { #expect(site.has(file), "\(path) shows \(file)") }
        }
        #expect(followed > 10_000)
        for (path, page) in pages where path.split(separator: "/").count == 2 {
            #expect(page.generatedTopics == [], "\(path) puts something under no topic of its own")
        }
        for entry in try site.index() { #expect(pages[entry.lowercased()] != nil, "the navigator names \(entry)") }
    }

    @Test func `each page of Docs is an article, and a command's article contains its help`()
        async throws
    {
        let site = try await Site.built.value
        let articles = Set(try site.pages().keys.compactMap { $0.split(separator: "/").last.map(String.init) })
        let root = TestData.package
        let docs = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("Docs").path)
        for page in docs.map({ $0.lowercased() })
        where !["site/", "examples/", "decisions/"].contains(where: page.hasPrefix) {
            let name = page.replacing("/", with: "-")
            if page.hasSuffix(".md") {
                #expect(articles.contains(String(name.dropLast(3))), "\(page)")
            } else if ["man/latchkey.1", "man/latchkey.5"].contains(page) {
                #expect(articles.contains("manual-\(name.dropFirst(4).replacing(".", with: "-"))"), "\(page)")
            }
        }
        let help = try await BuiltProducts.latchkey().run(["help", "commands"]).successful("help")
        #expect(help.listedCommands.count > 30)
        for command in help.listedCommands {
            let words = command.split(separator: " ").map(String.init)
            let help = BuiltProducts.latchkey
            let said = try await help().run(words + ["--help"], environment: ["COLUMNS": "10000"])
                .successful(command).outputText
            let shown = try site.text("documentation/latchkey/command-\(words.joined(separator: "-"))")
            // Prose and tables instead of columns: the same letters and digits, line by line.
            func letters(_ text: some StringProtocol) -> String {
                String(text.filter { $0.isLetter || $0.isNumber })
            }
            let found = letters(shown)
            // An option's two hyphens would be a dash in prose.
            #expect(!shown.contains(/–\w/), "\(command)")
            let lines = said.split(separator: "\n").dropFirst().filter { !$0.hasSuffix(":") }
            #expect(lines.count > 2)
            for line in lines {
                #expect(found.contains(letters(line.replacing("usage: ", with: ""))), "\(command): \(line)")
            }
        }
    }

    @Test func `the first page names the product and opens four doors`() async throws {
        let site = try await Site.built.value
        let text = try String(
            contentsOf: TestData.package.appendingPathComponent("Docs/Site/index.html"), encoding: .utf8)
        #expect(text.contains("<h1>Latchkey</h1>"))
        let doors = text.matches(of: /<a href="([^"]+)\/"><b>/).map { String($0.output.1) }
        #expect(doors.count == 4)
        for door in doors { #expect(site.has("/\(door)/index.html"), "\(door)") }
    }

    /// Each list goes into one build: docc names all that it finds, and our own script ends before it.
    private static let broken: [[(page: String, link: String, named: String)]] = [
        [
            ("Sources/Latchkey/Latchkey.docc/AtATerminal.md", "\n### New\n\n- <doc:Nowhere>\n", "Nowhere"),
            ("Sources/Latchkey/Latchkey.docc/Latchkey.md", "\n### New\n\n- ``NoSuchType``\n", "NoSuchType"),
        ],
        // A module that is made beside others.
        [
            (
                "Sources/Extras/LeakAudit/LatchkeyLeakAudit.docc/LatchkeyLeakAudit.md", "\n- ``NoSuchThing``\n",
                "NoSuchThing"
            )
        ],
        [("Docs/Explanation/threats.md", "\n[Elsewhere](../HowTo/server.md#nowhere)\n", "no heading #nowhere")],
    ]

    @Test(arguments: broken)
    func `a broken link ends the build, and the build names it`(
        _ links: [(page: String, link: String, named: String)]
    ) async throws {
        let root = TestData.package
        let copy = try TestDirectory()
        for name in ["Docs", "Scripts", "Sources", "SECURITY.md", "CONTRIBUTING.md"] {
            try FileManager.default.copyItem(
                at: root.appendingPathComponent(name), to: URL(fileURLWithPath: copy / name))
        }
        for (page, link, _) in links {
            let text = String(decoding: try copy.read(page), as: UTF8.self)
            try Data((text + link).utf8).write(to: URL(fileURLWithPath: copy / page))
        }
        let run = try await Site.build([copy / "site"], by: copy / "Scripts/site", home: copy.path)
        #expect(run.status != 0, "\(run.errorText)")
        for (_, _, named) in links {
            #expect((run.errorText + run.outputText).contains(named), "\(named): \(run.errorText)")
        }
        #expect(!FileManager.default.fileExists(atPath: copy / "site"))
    }

    @Test func `each product has a catalogue, or is part of another's`() throws {
        let root = TestData.package
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let script = try String(contentsOfFile: Site.script, encoding: .utf8)
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(products.count >= 7)
        // What `import Latchkey` shows of it; what only a trait makes.
        for product in products where !["LatchkeyLog", "LatchkeySwiftLog"].contains(product) {
            #expect(script.contains("\nmodule \(product)"), "\(product)")
            // `swift package generate-documentation` and the Swift Package Index look in the target's folder.
            let place = try #require(manifest.firstMatch(of: try Regex("\"\(product)\", at: \"([A-Za-z/]+)\"")))
            let page = "Sources/\(place[1].substring ?? "")/\(product).docc/\(product).md"
            #expect(FileManager.default.fileExists(atPath: root.appendingPathComponent(page).path), "\(page)")
        }
    }

    @Test func `the build leaves a folder with other files alone`() async throws {
        let folder = try TestDirectory()
        try folder.write("mine", "mine")
        let run = try await Site.build([folder.path], home: folder.path)
        #expect(run.status == 73 && run.errorText.hasSuffix(" holds something else\n"), "\(run.errorText)")
        #expect(try folder.read("mine") == Array("mine".utf8))
    }

    @Test(arguments: [["--unknown"], ["--base"], ["--base", "docs"], ["one", "two"]])
    func `a wrong command line builds nothing`(_ arguments: [String]) async throws {
        let run = try await Program(Site.script).run(arguments)
        #expect(run.status == 64 && run.errorText.hasPrefix("usage: Scripts/site"), "\(run.errorText)")
    }
}

extension RealBrowser {
    /// The site, served below a path.
    ///
    /// `LATCHKEY_SCREENSHOTS=/some/folder` leaves a picture of some pages there.
    @Suite(.serialized, .inChromium) struct SitePageTests {
        private let browser: HeadlessBrowser
        private let pictures = ProcessInfo.processInfo.environment["LATCHKEY_SCREENSHOTS"]

        init() throws { browser = try RealBrowser.browser() }

        @Test func `the search finds Secret, the navigator's filter finds a name, and both lead to it`() async throws {
            let site = try await Site.built.value
            let tab = try await browser.open("\(site.address)documentation/latchkey/")
            try await tab.wait(forTitle: "Latchkey | Latchkey")
            try await tab.click("button.quick-navigation-open")
            try await tab.type("Secret", into: ".quick-navigation input")
            try await click(".quick-navigation__refs a[href$='/documentation/latchkey/secret']", in: tab)
            try await tab.wait(forTitle: "Secret | Latchkey")
            try await tab.wait(forText: "bytes in guarded memory")

            try await tab.type("VaultKeyFile", into: ".navigator-filter input")
            // What doesn't fit is gone from the list: it waits above the page for its next use.
            let shown = "[...document.querySelectorAll('a.leaf-link')].filter(a => a.getBoundingClientRect().top > 0)"
            try await click(
                "a.leaf-link[href$='/documentation/latchkey/vaultkeyfile']", once: "\(shown).length === 1", in: tab)
            try await tab.wait(forTitle: "VaultKeyFile | Latchkey")
            try await tab.close()
        }

        /// Clicks an element once it is there and something holds: lists that are searched are laid out anew as one types,
        /// so that an element which was found may be another's a moment later.
        private func click(_ selector: String, once condition: String = "true", in tab: BrowserTab) async throws {
            let limit = ContinuousClock.now + .seconds(60)
            let script = """
                const found = document.querySelector(`\(selector)`);
                if (found === null || !(\(condition))) return false;
                found.click();
                return true;
                """
            while try await !tab.evaluate(script, as: Bool.self) {
                guard ContinuousClock.now < limit else { throw ServiceFailure("no element \(selector)") }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        /// What a page is, as the browser lays it out.
        private struct Look: Decodable, Sendable {
            let background: Double
            let leastContrast: Double
            let overflow: Double
            let elsewhere: [String]
        }

        private static let measure = """
            const channels = color => color.match(/[\\d.]+/g).map(Number);
            const linear = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
            const opaque = color => color.length < 4 || color[3] === 1;
            const background = element => {
                for (let e = element; e; e = e.parentElement) {
                    const color = channels(getComputedStyle(e).backgroundColor);
                    if (opaque(color)) return luminance(color);
                }
                return 1;
            };
            let leastContrast = 21;
            for (const element of document.querySelectorAll('main p, main li, main td, main h2, main pre, main a')) {
                const [a, b] = [luminance(channels(getComputedStyle(element).color)), background(element)];
                leastContrast = Math.min(leastContrast, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
            }
            const page = document.documentElement;
            return {
                background: background(document.querySelector('main')), leastContrast,
                overflow: page.scrollWidth - page.clientWidth,
                elsewhere: performance.getEntriesByType('resource').map(entry => entry.name)
                    .filter(name => !name.startsWith(location.origin) && !name.startsWith('data:')),
            };
            """

        @Test(arguments: [
            ("latchkey", "Latchkey"), ("latchkey/vaultstore", "VaultStore"),
            ("latchkey/howto-run", "Run a program with secrets"), ("latchkey/commands", "Commands"),
            ("latchkey/reference-json", "JSON: what programs read"),
            ("latchkey/explanation-comparison", "Beside others"),
            ("latchkey/manual-latchkey-1", "latchkey(1)"),
        ])
        func `pages are legible in light and dark, wide and narrow, and load nothing from elsewhere`(
            _ page: String, _ title: String
        ) async throws {
            let site = try await Site.built.value
            let tab = try await browser.open("\(site.address)documentation/\(page)/")
            try await tab.wait(forTitle: "\(title) | Latchkey")
            for width in [1280, 360] {
                for scheme in BrowserTab.ColorScheme.allCases {
                    try await tab.show(scheme, width: width)
                    let look = try await tab.evaluate(Self.measure, as: Look.self)
                    let isGood = look.leastContrast >= 4.5 && look.overflow <= 0 && look.elsewhere.isEmpty
                    #expect(isGood, "\(page), \(scheme), \(width): \(look)")
                    #expect(scheme == .light ? look.background > 0.8 : look.background < 0.05, "\(look)")
                    if let pictures {
                        let name = "\(page.replacing("/", with: " ")) \(scheme) \(width).png"
                        try await Data(tab.screenshot()).write(to: URL(fileURLWithPath: pictures + "/" + name))
                    }
                }
            }
            try await tab.close()
        }
    }
}
