"""The outputs of the traps: what tools print by the hundred lines, and the few lines in it that matter."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.bench.noise import WORDS

# A trap reads as one line: what was run, what it printed, what matters.
# fmt: off


@dataclass(frozen=True, slots=True)
class Trap:
    """What was run, what it printed, and what of that must reach the model."""

    name: str
    command: str
    text: str
    needles: tuple[str, ...] = ()
    exit_code: int | None = 0
    never: tuple[str, ...] = ()
    """Phrases, in lower case, that would say the opposite."""
    verbatim: bool = False


_RNG = Random(11)
BENIGN = ("no tests", "no issues", "all tests passed", "no errors", "0 failed")


def word() -> str:
    """Some word."""
    return _RNG.choice(WORDS)


def figure(most: int = 999) -> int:
    """Some number."""
    return _RNG.randrange(most)


def digest(size: int = 12) -> str:
    """Some hash."""
    return f"{_RNG.getrandbits(4 * size):0{size}x}"


def many(count: int, line: Callable[[int], str]) -> list[str]:
    """So many lines."""
    return [line(n) for n in range(count)]


def among(noise: list[str], news: list[str], at: float = 0.5) -> list[str]:
    """`news` within the lines of `noise`."""
    place = int(len(noise) * at)
    return [*noise[:place], *news, *noise[place:]]


def clock(n: int, step: int = 3) -> str:
    """The time of day at the `n`-th event."""
    second = 36_000 + n * step
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{n * 37 % 1000:03d}"


def stamp(n: int) -> str:
    """The time at the `n`-th event, with its date."""
    return f"2026-04-17T{clock(n)}Z"


def trap(name: str, command: str, lines: list[str], *needles: str, code: int | None = 0, never: tuple[str, ...] = ()) -> Trap:
    """A trap made of lines."""
    return Trap(name, command, "\n".join(lines) + "\n", needles, code, never)


def _verbatim(name: str, command: str, lines: list[str], code: int | None = 0) -> Trap:
    return Trap(name, command, "\n".join(lines) + "\n", exit_code=code, verbatim=True)


LAYERS = many(90, lambda n: f"{digest()}: {_RNG.choice(['Pulling fs layer', 'Waiting', 'Verifying Checksum', 'Download complete', 'Extracting', 'Pull complete'])}")
REQUESTS = many(400, lambda n: f"{stamp(n)} INFO  [http-{n % 8}] {word()}.api - GET /v1/{word()}/{figure(99999)} 200 in {figure(90)} ms")
CHAINED = [
    "Traceback (most recent call last):",
    '  File "/srv/app/store.py", line 88, in load',
    "    return self._rows[key]",
    "           ~~~~~~~~~~^^^^^",
    "KeyError: 'tenant-41'",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "/srv/app/main.py", line 17, in handle',
    "    store.load(name)",
    '  File "/srv/app/store.py", line 91, in load',
    "    raise MissingTenant(key) from None",
    "app.errors.MissingTenant: tenant-41 is not provisioned",
]
JAVA = [
    "java.lang.IllegalStateException: order 8841 is locked",
    "\tat com.acme.orders.Lock.take(Lock.java:57)",
    "\tat com.acme.orders.Service.submit(Service.java:212)",
    "Caused by: java.sql.SQLTimeoutException: lock wait",
    "\tat com.acme.db.Pool.run(Pool.java:40)",
    "\t... 31 more",
]
RUSTC = [
    "error[E0502]: cannot borrow `queue` as mutable because it is also borrowed as immutable",
    "  --> crates/sched/src/lib.rs:141:9",
    "   |",
    "139 |     let head = &queue[0];",
    "   |                 ----- immutable borrow occurs here",
    "141 |         queue.push(head.next());",
    "   |         ^^^^^^^^^^^^^^^^^^^^^^^^ mutable borrow occurs here",
    "",
    "error: could not compile `sched` (lib) due to 1 previous error",
]


def runners() -> list[Trap]:
    """Test runners."""
    passed = many(300, lambda n: f"tests/unit/test_{word()}.py::test_{word()}_{word()}[{n}] PASSED{'':8}[{n // 3:3d}%]")
    ok = many(280, lambda n: f"test {word()}::{word()}::tests::{word()}_{n} ... ok")
    ticks = [line for n in range(40) for line in (f"  {word()} {word()}", *many(6, lambda k: f"    ✓ {word()} the {word()} of {word()} ({figure(40)}ms)"), "")]
    suites = many(120, lambda n: f"PASS packages/{word()}/src/{word()}-{n}.test.ts ({figure(9)}.{figure(99)} s)")
    runs = [line for n in range(150) for line in (f"=== RUN   Test{word().title()}{n}", f"--- PASS: Test{word().title()}{n} (0.{n % 100:02d}s)")]
    maven = [line for n in range(70) for line in (f"[INFO] Running com.acme.{word()}.{word().title()}{n}Test", f"[INFO] Tests run: {n % 9 + 1}, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.{n:03d} s -- in com.acme.{word()}.{word().title()}{n}Test")]
    ctest = [line for n in range(1, 121) for line in (f"        Start {n:3d}: {word()}_{word()}", f"{n:3d}/120 Test #{n}: {word()}_{word()} {'.' * 20}   Passed    0.{n % 100:02d} sec")]
    return [
        trap("pytest stops in the collection", "docker compose run app pytest", among(LAYERS, ["collected 41 items / 1 error", "____ ERROR collecting tests/test_billing.py ____", "tests/test_billing.py:4: in <module>", "    import stripe_shim", "E   ModuleNotFoundError: No module named 'stripe_shim'", "1 error in 0.31s"], 0.97), "tests/test_billing.py:4: in <module>", "E   ModuleNotFoundError: No module named 'stripe_shim'", "1 error in 0.31s", code=2, never=BENIGN),
        trap("pytest, one of 300 fails", "pytest", [*among(passed, ["tests/unit/test_cart.py::test_total FAILED              [ 49%]"]), "=== FAILURES ===", "___ test_total ___", "", "    def test_total():", ">       assert total([1, 2]) == 4", "E       assert 3 == 4", "", "tests/unit/test_cart.py:12: AssertionError", "=== 1 failed, 300 passed in 8.11s ==="], "tests/unit/test_cart.py::test_total FAILED", ">       assert total([1, 2]) == 4", "E       assert 3 == 4", "tests/unit/test_cart.py:12: AssertionError", "1 failed, 300 passed in 8.11s", code=1),
        trap("pytest, 300 pass", "make test", [*passed, "=== 300 passed, 2 skipped in 7.92s ==="], "300 passed, 2 skipped in 7.92s"),
        trap("jest, a suite that does not run", "npx jest", [*among(suites, ["FAIL packages/ui/src/menu.test.ts", "  ● Test suite failed to run", "", "    Cannot find module './icons' from 'src/menu.tsx'", "", "      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:427:11)"]), "", "Test Suites: 1 failed, 120 passed, 121 total", "Tests:       744 passed, 744 total"], "FAIL packages/ui/src/menu.test.ts", "Cannot find module './icons' from 'src/menu.tsx'", "Test Suites: 1 failed, 120 passed, 121 total", "Tests:       744 passed, 744 total", code=1, never=BENIGN),
        trap("vitest, an import that does not resolve", "npx vitest run", [*many(110, lambda n: f" ✓ src/{word()}/{word()}-{n}.spec.ts ({n % 9 + 1} tests) {figure(80)}ms"), " FAIL  src/cart.spec.ts [ src/cart.spec.ts ]", 'Error: Failed to resolve import "./price" from "src/cart.ts". Does the file exist?', " ❯ src/cart.ts:3:22", "", " Test Files  1 failed | 110 passed (111)", "      Tests  530 passed (530)"], 'Failed to resolve import "./price" from "src/cart.ts"', "src/cart.ts:3:22", "Test Files  1 failed | 110 passed (111)", code=1, never=BENIGN),
        trap("go test, a deadlock in one package", "go test ./...", [*among(many(110, lambda n: f"ok  \tacme.io/core/{word()}/{word()}{n}\t0.{n:03d}s"), ["fatal error: all goroutines are asleep - deadlock!", "", "goroutine 19 [chan receive]:", "acme.io/core/queue.(*Queue).Wait(...)", "\t/src/core/queue/queue.go:73", "FAIL\tacme.io/core/queue\t0.012s"]), "FAIL"], "fatal error: all goroutines are asleep - deadlock!", "/src/core/queue/queue.go:73", "FAIL\tacme.io/core/queue\t0.012s", code=1),
        trap("go test, 150 pass", "make check", [*runs, "PASS", "ok  \tacme.io/core/all\t3.204s"], "ok  \tacme.io/core/all\t3.204s"),
        trap("cargo test, one of 281 fails", "cargo test", ["running 281 tests", *among(ok, ["test sched::tests::fair_share ... FAILED"], 0.4), "", "failures:", "", "---- sched::tests::fair_share stdout ----", "thread 'sched::tests::fair_share' panicked at src/sched.rs:88:9:", "assertion `left == right` failed", "  left: 3", " right: 4", "", "test result: FAILED. 280 passed; 1 failed; 0 ignored"], "test sched::tests::fair_share ... FAILED", "panicked at src/sched.rs:88:9", "left: 3", "right: 4", "280 passed; 1 failed", code=101),
        trap("mocha, one of 241 fails", "npm test", [*among(ticks, ["    1) rounds half cents up"]), "  240 passing (3s)", "  1 failing", "", "  1) money", "       rounds half cents up:", "      AssertionError: expected 2.34 to equal 2.35", "      at Context.<anonymous> (test/money.js:41:14)"], "1) rounds half cents up", "240 passing", "1 failing", "AssertionError: expected 2.34 to equal 2.35", "test/money.js:41:14", code=1),
        trap("maven, one failure", "mvn -B test", [*among(maven, ["[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in com.acme.tax.VatTest", "[ERROR] com.acme.tax.VatTest.reduced:33 expected: <7> but was: <19>"]), "[ERROR] Tests run: 318, Failures: 1, Errors: 0, Skipped: 0", "[INFO] BUILD FAILURE"], "com.acme.tax.VatTest.reduced:33 expected: <7> but was: <19>", "Tests run: 318, Failures: 1", "BUILD FAILURE", code=1, never=("build success",)),
        trap("an unknown runner fails first", "./verify.sh", ["CHECK ledger-balance: mismatch, debit 120 credit 119", *many(400, lambda n: f"CHECK {word()}-{word()}-{n}: fine")], "CHECK ledger-balance: mismatch, debit 120 credit 119", code=1),
        trap("ctest, one of 120 fails", "ctest", [*among(ctest, ["121/121 Test #121: codec_roundtrip ....................***Failed    0.44 sec"]), "99% tests passed, 1 tests failed out of 121", "The following tests FAILED:", "\t121 - codec_roundtrip (Failed)"], "Test #121: codec_roundtrip", "99% tests passed, 1 tests failed out of 121", "121 - codec_roundtrip (Failed)", code=8),
    ]


def compilers() -> list[Trap]:
    """Compilers, linkers and linters."""
    warnings = [line for n in range(200) for line in (f"src/{word()}/{word()}.c:{n + 9}:{n % 60}: warning: unused variable '{word()}_{n}' [-Wunused-variable]",)]
    kinds = ("cannot find name", "has no exported member", "is not assignable to type", "does not exist on type", "is possibly undefined for")
    tsc = many(60, lambda n: f"src/{word()}/{word()}{n}.ts({n * 7 + 3},{n % 40 + 1}): error TS{2300 + n}: '{word()}{n}' {kinds[n % 5]} '{word().title()}{n}'.")
    gcc = [line for n in range(60) for line in (f"src/{word()}{n}.cpp:{n * 3 + 11}:{n % 30 + 2}: error: '{word()}_{n}' was not declared in this scope", f" {n * 3 + 11:4d} |   {word()}_{n}(handle);", "      |   ^~~~~~~~~~")]
    objects = many(160, lambda n: f"[{n * 100 // 161:3d}%] Building CXX object src/{word()}/CMakeFiles/{word()}.dir/{word()}_{n}.cpp.o")
    tasks = many(130, lambda n: f"> Task :{word()}:{word()}:{_RNG.choice(['compileJava', 'processResources', 'classes', 'jar'])}{_RNG.choice(['', ' UP-TO-DATE', ' NO-SOURCE'])}")
    assets = many(120, lambda n: f"  asset {word()}.{digest(8)}.chunk.js {figure(400)} KiB [emitted] [immutable] [minimized] (name: {word()}-{n})")
    findings = many(40, lambda n: f"src/{word()}/{word()}.py:{n * 5 + 2}:{n % 70 + 1}: {('F401', 'E501', 'B006', 'UP035')[n % 4]} finding number {n} about `{word()}_{n}`")
    return [
        trap("cargo build, a borrow error", "cargo build --workspace", [*many(140, lambda n: f"   Compiling {word()}-{word()} v{n % 5}.{n % 20}.{n % 9}"), *RUSTC], *RUSTC[:2], RUSTC[5], RUSTC[6], RUSTC[8], code=101),
        trap("an error after 200 warnings", "make -j8", [*warnings, "src/net/tls.c:310:5: error: implicit declaration of function 'tls_rekey'", "make: *** [Makefile:44: tls.o] Error 1"], "src/net/tls.c:310:5: error: implicit declaration of function 'tls_rekey'", "make: *** [Makefile:44: tls.o] Error 1", code=2),
        trap("60 different errors of tsc", "npx tsc --noEmit", [*tsc, "", "Found 60 errors in 60 files."], *tsc[::7], "Found 60 errors in 60 files.", code=2),
        trap("60 different errors of g++", "make", [*gcc, "make: *** [all] Error 1"], *gcc[0::9], "make: *** [all] Error 1", code=2),
        trap("gradle, one error", "./gradlew build", [*among(tasks, ["/src/tax/Rate.java:19: error: incompatible types: String cannot be converted to int", "        int rate = lookup(code);", "                         ^"]), "FAILURE: Build failed with an exception.", "Execution failed for task ':tax:compileJava'.", "BUILD FAILED in 41s"], "/src/tax/Rate.java:19: error: incompatible types", "int rate = lookup(code);", "Execution failed for task ':tax:compileJava'.", "BUILD FAILED in 41s", code=1, never=("build successful",)),
        trap("cmake, a symbol that is not linked", "cmake --build build", [*objects, "[100%] Linking CXX executable bin/served", "/usr/bin/ld: src/net/CMakeFiles/net.dir/peer.cpp.o: in function `Peer::dial()':", "peer.cpp:(.text+0x1f4): undefined reference to `Tls::handshake(int)'", "collect2: error: ld returned 1 exit status"], "undefined reference to `Tls::handshake(int)'", "in function `Peer::dial()'", "ld returned 1 exit status", code=2),
        trap("a build that passes", "cmake --build build", [*objects, "[100%] Built target served"], "[100%] Built target served"),
        trap("webpack, an error after its assets", "npm run build", [*assets, "ERROR in ./src/menu.tsx 7:0-31", "Module not found: Error: Can't resolve './icons' in '/app/src'", "webpack 5.91.0 compiled with 1 error in 9120 ms"], "ERROR in ./src/menu.tsx 7:0-31", "Can't resolve './icons' in '/app/src'", "compiled with 1 error", code=1),
        trap("40 findings, and one without a place", "ruff check .", [*findings, "error: pyproject.toml: unknown rule `XYZ999`", "Found 41 errors."], *findings[::6], "error: pyproject.toml: unknown rule `XYZ999`", "Found 41 errors.", code=1),
    ]


def packages() -> list[Trap]:
    """Package managers and containers."""
    pip = [line for n in range(70) for line in (f"Collecting {word()}-{word()}>={n % 9}.{n % 5}", f"  Downloading {word()}_{word()}-{n % 9}.{n % 30}.0-py3-none-any.whl ({figure(900)} kB)", f"     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ {figure(900)}.0/{figure(900)}.0 kB {n % 90}.3 MB/s eta 0:00:00")]
    names = [f"{word()}-{word()}-{n % 9}.{n % 30}" for n in range(70)]
    deprecated = many(60, lambda n: f"npm warn deprecated {word()}-{word()}@{n % 9}.{n % 20}.{n % 7}: this version is no longer supported, use {word()}@{n % 9 + 1}")
    apt = [line for n in range(80) for line in (f"Get:{n + 1} http://deb.example.org/debian bookworm/main amd64 lib{word()}{n} amd64 {n % 9}.{n % 30}-{n % 4} [{figure(900)} kB]",)]
    dpkg = [line for n in range(80) for line in (f"Selecting previously unselected package lib{word()}{n}:amd64.", f"Preparing to unpack .../{n:03d}-lib{word()}{n}_{n % 9}.{n % 30}-{n % 4}_amd64.deb ...", f"Unpacking lib{word()}{n}:amd64 ({n % 9}.{n % 30}-{n % 4}) ...")]
    setup = many(80, lambda n: f"Setting up lib{word()}{n}:amd64 ({n % 9}.{n % 30}-{n % 4}) ...")
    build = many(160, lambda n: f"#{n // 20 + 5} sha256:{digest(64)} {figure(90)}.{figure(99)}MB / 91.20MB {n % 20 * 0.4:.1f}s")
    steps = many(120, lambda n: f"#14 {n * 0.31:.3f} added package {word()}-{word()} {n % 9}.{n % 20}.{n % 7}")
    pods = ["NAME                                READY   STATUS             RESTARTS   AGE", *many(80, lambda n: f"{word()}-{digest(10)}-{digest(5)}{'':8}1/1     Running            0          {n % 30}d")]
    waiting = many(180, lambda n: f"aws_db_instance.{word()}[{n % 6}]: Still creating... [{n // 6 * 10}s elapsed]")
    return [
        trap("pip, a conflict at the end", "pip install -r requirements.txt", [*pip, "ERROR: Cannot install acme-core==2.1 and numpy==2.0 because these package versions have conflicting dependencies.", "    acme-core 2.1 depends on numpy<1.27"], "Cannot install acme-core==2.1 and numpy==2.0", "acme-core 2.1 depends on numpy<1.27", code=1),
        trap("pip, installed", "pip install .", [*pip, f"Installing collected packages: {', '.join(name.rsplit('-', 1)[0] for name in names)}", f"Successfully installed {' '.join(names)}"], f"Successfully installed {names[0]}", names[41], names[69]),
        trap("npm, peers that do not agree", "npm install", [*deprecated, "npm error code ERESOLVE", "npm error ERESOLVE could not resolve", "npm error While resolving: ui-kit@4.2.0", "npm error Found: react@19.0.0", 'npm error Could not resolve dependency: peer react@"^18" from ui-kit@4.2.0'], "npm error code ERESOLVE", 'peer react@"^18" from ui-kit@4.2.0', "Found: react@19.0.0", code=1),
        trap("apt, a unit that does not start", "apt-get install -y build-deps", [*apt, *dpkg, *among(setup, ["Job for redis-server.service failed because the control process exited with error code.", "invoke-rc.d: initscript redis-server, action \"start\" failed."])], "Job for redis-server.service failed", 'action "start" failed.'),
        trap("a container build, step 14 fails", "docker build .", [*build, *steps, "#14 38.20 /bin/sh: 1: protoc: not found", "#14 ERROR: process \"/bin/sh -c make proto\" did not complete successfully: exit code: 127", "------", "Dockerfile:19", "  19 | >>> RUN make proto"], "protoc: not found", "exit code: 127", "Dockerfile:19", code=1),
        trap("one pod of 81 crashes", "kubectl get pods -A", among(pods, ["billing-5d9f7c-x2x9q             0/1     CrashLoopBackOff   41         3h"], 0.6), "billing-5d9f7c-x2x9q", "CrashLoopBackOff", "41"),
        trap("terraform, one resource fails", "terraform apply -auto-approve", [*waiting, "│ Error: creating RDS DB Instance (ledger): DBSubnetGroupNotFoundFault: no such group", "│   with aws_db_instance.ledger[0],", "│   on db.tf line 12", "Apply complete? no: 1 of 6 resources failed"], "DBSubnetGroupNotFoundFault: no such group", "on db.tf line 12", code=1),
    ]


def logs() -> list[Trap]:
    """Logs and progress."""
    retries = many(250, lambda n: f"{stamp(n)} WARN  pool-{n % 4} connection {digest(8)} idle for {30 + n % 7}s, returning it to the pool")
    steps = many(300, lambda n: f"[{clock(n)}] worker-{n % 6} processed batch {n} ({figure(900)} rows) id={digest(16)}")
    beats = many(300, lambda n: f"{stamp(n)} heartbeat seq={n} ok")
    bar = "\r".join(f"Downloading model: {n:3d}%|{'█' * (n // 5):<20}| {n * 7}/700MB" for n in range(101))
    plain = many(200, lambda n: f"Downloaded {n * 3} of 600 MB ({n / 2:.1f} %), {n % 9 + 1}.{n % 10} MB/s")
    health = many(400, lambda n: f'10.0.{n % 4}.{n % 250} - - [17/Apr/2026:10:{n // 60 % 60:02d}:{n % 60:02d} +0000] "GET /healthz HTTP/1.1" 200 {40 + n % 3} {n % 5}ms')
    epochs = many(120, lambda n: f"epoch {n:3d} step {n * 40} loss {2.5 / (n + 1):.4f} lr 0.0003 grad_norm {n % 7}.{n % 10} tokens/s {30_000 + n}")
    ci = many(260, lambda n: f"{stamp(n)} {('Setting up', 'Fetching', 'Restoring', 'Checking')[n % 4]} {word()}-{word()} from cache {digest(10)}")
    attempts = many(120, lambda n: f"waiting for postgres at db:5432 (attempt {n + 1}/180)")
    ndjson = many(150, lambda n: json.dumps({"ts": stamp(n), "level": "info", "logger": "acme.http", "msg": "request served", "path": f"/v1/{word()}", "ms": n % 40}))
    return [
        trap("a chained traceback between noise", "docker compose logs app", among(REQUESTS, CHAINED), *(line for line in CHAINED if line)),
        trap("a chained trace of Java", "journalctl -u orders", among(REQUESTS[:300], [f"{stamp(150)} ERROR [http-3] orders.api - request failed", *JAVA]), *JAVA[:5]),
        trap("other words than error: killed", "kubectl logs worker-0", among(steps, [f"[{clock(150)}] worker-3 OOMKilled: limit 512Mi", f"[{clock(151)}] worker-3 quota exceeded for tenant acme"]), "worker-3 OOMKilled: limit 512Mi", "worker-3 quota exceeded for tenant acme"),
        trap("other words than error: refused", "journalctl -u relay", among(retries, [f"{stamp(90)} WARN  pool-2 peer 10.1.4.9 refused the handshake: certificate expired", f"{stamp(91)} WARN  pool-2 giving up after 3 tries"]), "peer 10.1.4.9 refused the handshake: certificate expired", "giving up after 3 tries"),
        trap("a missed heartbeat", "docker logs agent", [*among(beats, [f"{stamp(150)} heartbeat seq=150 late by 4210 ms, leader lost"]), f"{stamp(300)} shutting down after 300 beats"], "late by 4210 ms, leader lost", "shutting down after 300 beats"),
        trap("progress that is drawn over", "python fetch.py", ["fetching weights", bar, "checksum mismatch: want 9f2c got 11ab", "removed partial file"], "checksum mismatch: want 9f2c got 11ab", "removed partial file", code=1),
        trap("progress line by line", "./fetch weights.bin", [*plain, "stored weights.bin (600 MB), sha256 77aa01"], "stored weights.bin (600 MB), sha256 77aa01"),
        trap("one request of 400 with another status", "docker logs web", among(health, ['10.0.1.18 - - [17/Apr/2026:10:04:12 +0000] "GET /healthz HTTP/1.1" 503 19 3ms'], 0.55), "10.0.1.18", "503"),
        trap("training, the last loss", "python train.py", [*epochs, "best checkpoint: step 4760 loss 0.0208", "saved to runs/7/best.pt"], "best checkpoint: step 4760 loss 0.0208", "saved to runs/7/best.pt"),
        trap("a job of CI", "gh run view 81 --log", [*among(ci, [f"{stamp(200)} ##[error]Process completed with exit code 3.", f"{stamp(199)} cache key 'node-20' has no entry"], 0.9), f"{stamp(261)} Post job cleanup."], "##[error]Process completed with exit code 3.", "cache key 'node-20' has no entry"),
        trap("a service that comes up late", "./wait-for.sh", [*attempts, "postgres is ready after 120 attempts", "running migrations: 14 applied"], "postgres is ready after 120 attempts", "running migrations: 14 applied"),
        trap("JSON lines, one is not like the others", "docker logs api", among(ndjson, [json.dumps({"ts": stamp(80), "level": "info", "logger": "acme.http", "msg": "circuit open", "path": "/v1/pay", "ms": 30011})]), "circuit open", "/v1/pay", "30011"),
    ]


def given() -> list[Trap]:
    """What was asked for: changes, hits, data, files."""
    hunk = ["diff --git a/src/app.py b/src/app.py", "--- a/src/app.py", "+++ b/src/app.py", *[line for n in range(60) for line in (f"@@ -{n * 9 + 1},3 +{n * 9 + 1},3 @@ def {word()}_{n}():", f"     {word()} = {n}", f"-    return {word()}({n})", f"+    return {word()}({n + 1})")]]
    commits = [line for n in range(12) for line in (f"commit {digest(40)}", "Author: Ada <ada@example.org>", "", f"    Change {word()} {n}", "", *hunk[:3], f"@@ -{n},1 +{n},1 @@", f"-old_{n}", f"+new_{n}", "")]
    oneline = many(200, lambda n: f"{digest(8)} {word().title()} the {word()} of {word()} (#{900 - n})")
    hits = many(240, lambda n: f"src/{word()}/{word()}_{n}.py:{n * 3 + 7}:    {word()} = resolve({word()}, {n})")
    push = [*many(60, lambda n: f"remote: Compressing objects: {n * 100 // 59:3d}% ({n * 20}/1180)"), "To github.example.org:acme/core.git", " ! [rejected]        main -> main (non-fast-forward)", "error: failed to push some refs to 'github.example.org:acme/core.git'"]
    items = [{"id": n, "name": f"{word()}-{n}", "state": "active", "region": "eu-1", "quota": 100} for n in range(90)]
    items[61] = {"id": 61, "name": "pepper-61", "state": "suspended", "region": "eu-1", "quota": 0, "reason": "invoice 8812 unpaid"}
    rows = [" id  | customer   |   total", "-----+------------+---------", *many(80, lambda n: f" {n + 1:3d} | {word():10} | {figure(99999) / 100:7.2f}"), "(80 rows)"]
    listing = ["total 1204", *many(120, lambda n: f"-rw-r--r-- 1 dev dev {figure(90000):6d} Apr {n % 28 + 1:2d} 10:{n % 60:02d} {word()}_{n}.{('py', 'md', 'ts')[n % 3]}"), "-rw------- 1 dev dev    212 Apr  2 09:11 .env.production"]
    source = ["import os", "", "", *[line for n in range(60) for line in (f"def {word()}_{n}(value):", f"    if value > {n}:", f"        return value - {n}", "    return None", "")]]
    return [
        _verbatim("a patch that will be applied", "git diff", hunk),
        trap("a log with patches", "git log -p", commits, *(f"+new_{n}" for n in range(12)), *(line for line in commits if line.startswith("commit"))),
        trap("one commit of 200", "git log --oneline", among(oneline, ["9c01d7e2 Revert the rate limiter (#411)"]), "9c01d7e2 Revert the rate limiter (#411)", oneline[20], oneline[180]),
        trap("one hit in the middle", "grep -rn resolve src", among(hits, ["src/core/loader.py:88:    plugin = resolve(UNSAFE_entry, None)"]), "src/core/loader.py", "88:    plugin = resolve(UNSAFE_entry, None)"),
        trap("a push that is rejected", "git push", push, "! [rejected]        main -> main (non-fast-forward)", "failed to push some refs", code=1),
        trap("a list in JSON with one that differs", "curl -s api/accounts", [json.dumps({"total": 90, "items": items}, indent=2)], '"reason": "invoice 8812 unpaid"', '"state": "suspended"', '"total": 90', "pepper-61"),
        trap("a table of a database", "psql -c 'select * from orders'", rows, rows[30], rows[71], "(80 rows)"),
        trap("a listing with a hidden file", "ls -la", listing, ".env.production", listing[60].split()[-1]),
        _verbatim("a source file", "cat src/rules.py", source),
        _verbatim("a version", "node --version", ["v22.4.1"]),
    ]


TRAPS: tuple[Trap, ...] = (*runners(), *compilers(), *packages(), *logs(), *given())
"""In the order of what printed them."""
