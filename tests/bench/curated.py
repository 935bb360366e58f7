"""A static set of about 200 rules, written by hand for well-known tools: the paper's cheapest strong rival (its table 4).

Each row names the commands of a family and the sorts of noise that their output has; nothing is learned and nothing changes.
"""

from __future__ import annotations

from rules_engine import Rule
from rules_engine.types import Trigger

NOISE = {
    "progress": (r"\d{1,3} ?%", r"^[\s#=>.\-|/\\]+$", r"\b\d+/\d+\b.*(?:\[|\d ?[kKMG]i?B)", r"(?:ETA|eta)\b"),
    "download": (r"^\s*(?:Downloading|Fetching|Get:\d+|Receiving|Pulling|Downloaded|Retrieving)\b", r"\d ?[kKMG]i?B/s"),
    "unpack": (r"^\s*(?:Unpacking|Preparing to unpack|Selecting previously|Extracting|Inflating|inflating:)",),
    "resolve": (r"^\s*(?:Collecting|Using cached|Requirement already satisfied|Obtaining|Resolving|Looking in)\b",),
    "setup": (
        r"^\s*(?:Setting up|Processing triggers|Building wheel|Preparing metadata|Getting requirements|Stored in)",
    ),
    "lists": (r"^(?:Hit|Ign|Get):\d+", r"^Reading (?:package|state)", r"^Building dependency", r"^\(Reading database"),
    "compile": (r"^\s*(?:Compiling|Checking|Building|Fresh|Documenting) \S+", r"^\s*(?:CC|CXX|LD|AR|GEN|HOSTCC)\s"),
    "command": (r"^(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|ar|nvcc|rustc|javac|libtool:|/bin/sh)\b.{80,}",),
    "made": (r"^\[ *\d+%\] ", r"^make\[\d+\]: (?:Entering|Leaving)", r"^-- (?:Detecting|Looking for|Check|Performing)"),
    "checking": (r"^checking (?:for|whether|if|how)\b", r"^config\.status: creating"),
    "passed": (
        r"(?:\bPASSED|\bpassed)\b\s*(?:\[ *\d+%\])?$",
        r"^\s*(?:✓|✔|√|ok \d+|PASS:|\(pass\)) ",
        r"^test .* \.\.\. ok$",
    ),
    "running": (r"^=== (?:RUN|PAUSE|CONT|NAME)", r"^\s*--- PASS", r"^\[ RUN  ", r"^\[       OK \]", r"^Running \S+$"),
    "assets": (r"^\s*\S+\.(?:js|css|map|html|svg|png|woff2?)\s+[\d.,]+ ?[kKM]i?B", r"^\s*(?:├|└|│|asset|chunk) "),
    "notices": (r"^npm (?:notice|http|timing|sill|verb)", r"looking for funding", r"^\s*run `npm fund`", r"^➤ YN0000"),
    "deprecated": (r"^npm (?:WARN|warn) deprecated", r"DeprecationWarning", r"^warning .*(?:unmet|peer) dependency"),
    "transfer": (
        r"^(?:remote: )?(?:Counting|Compressing|Receiving|Resolving|Enumerating|Writing) ",
        r"^Unpacking objects",
    ),
    "layers": (
        r"^[0-9a-f]{12}: ",
        r"^#\d+ (?:sha256:|extracting|transferring|\d+\.\d+ )",
        r"^ ---> (?:Running in )?[0-9a-f]{12}",
    ),
    "debug": (r"\b(?:DEBUG|TRACE)\b", r"^\s*(?:at|in) \S+ \(node_modules/"),
    "info": (r"^\[INFO\] (?:Download|Progress|---|Copying|Using|skip)", r"^\[INFO\]\s*$"),
    "tasks": (r"^> Task :\S+ (?:UP-TO-DATE|NO-SOURCE|FROM-CACHE|SKIPPED)$", r"^\s*<=*-*> \d+%"),
    "state": (
        r"(?:Refreshing state|Reading|Still (?:creating|reading|destroying))\.\.\.",
        r"^ok: \[",
        r"^skipping: \[",
    ),
    "dots": (r"^[.+*]{20,}",),
    "verbose": (r"^[*<>{}] ", r"^\s+% Total\s+% Received", r"^\s*\d+\s+\d+\s+\d+\s+\d+\s+\d+\s+\d+\s"),
    "paths": (r"^(?:[>a-z.]{11} |sending incremental|receiving incremental)", r"^(?:adding|updating|creating|x) \S+"),
    "epochs": (r"^(?:Epoch|epoch|Step|step|Iter\w*) ?\[?\d+.*(?:it/s|s/it|ms/step)", r"\d+/\d+ \[[=>.]+\]"),
}
"""Sort of noise → patterns of its lines."""

FAMILIES = """
python: pip install|pip3 install|pip download|pip wheel|python -m pip|pipx install: download resolve setup progress
uv: uv pip|uv sync|uv add|uv run|uv lock|uv tool: download resolve progress
poetry: poetry install|poetry update|poetry add|poetry lock|pdm install|pipenv install|hatch env: download resolve setup
conda: conda install|conda create|conda env|mamba install|mamba create|micromamba: download progress unpack resolve
debian: apt install|apt-get install|apt update|apt-get update|apt upgrade|apt-get upgrade|dpkg -i|aptitude: download unpack setup lists progress
redhat: yum install|dnf install|dnf update|yum update|rpm -|zypper install|microdnf: download setup progress unpack
systems: apk add|apk update|pacman -S|brew install|brew update|brew upgrade|port install|snap install|flatpak install|nix build: download unpack setup progress
node: npm install|npm ci|npm i |npm update|npm run build|npm audit|npx create: notices deprecated progress assets download
yarn: yarn install|yarn add|yarn build|yarn$|pnpm install|pnpm add|pnpm build|bun install|bun add|deno cache: notices deprecated progress assets resolve
bundle: webpack|vite build|rollup|esbuild|parcel build|tsup|next build|nuxt build|ng build|astro build|turbo run|nx run: assets progress notices
jstest: jest|vitest|mocha|npm test|npm run test|yarn test|pnpm test|bun test|karma|playwright test|cypress run|ava |tap : passed running progress
pytest: pytest|python -m pytest|python -m unittest|tox|nox|nose2|manage.py test|trial: passed progress running dots
go: go test|go build|go get|go mod|go install|go vet|gotestsum: running download passed
rust: cargo build|cargo test|cargo check|cargo run|cargo install|cargo clippy|cargo doc|rustup: compile download passed progress
c: make|cmake|ninja|meson|bazel build|bazel test|scons|xmake|autoreconf|ctest: made command compile progress running
configure: ./configure|configure.sh|autogen.sh|cmake -: checking made
compiler: gcc|g++|clang|nvcc|gfortran|ld |swiftc|swift build|swift test|xcodebuild: command compile progress
java: mvn|mvnw|gradle|gradlew|ant |sbt|lein |javac: info tasks download progress command
dotnet: dotnet build|dotnet test|dotnet restore|dotnet run|msbuild|nuget: resolve compile passed progress
ruby: bundle install|gem install|rake|rspec|rails test|composer install|composer update|phpunit: download resolve passed dots
git: git clone|git fetch|git pull|git push|git submodule|git lfs|git checkout|git gc: transfer progress
docker: docker build|docker pull|docker push|docker compose|docker-compose|podman build|podman pull|buildah|docker run: layers download progress
cloud: terraform|tofu |pulumi|ansible|kubectl apply|helm |vagrant up|packer build|gcloud builds|aws s3: state progress download
fetch: wget|curl -|aria2c|axel |http |scp |sftp : verbose progress download
copy: rsync|tar |unzip|zip |7z |cp -v|mv -v|gunzip -v|dd : paths unpack progress
keys: openssl|ssh-keygen|gpg |certbot: dots progress
train: python train|train.py|accelerate launch|torchrun|deepspeed|nvidia-smi|tensorboard|mlflow: epochs progress download debug
"""
"""``family: commands: sorts of noise``; every command is a rule of its own."""


def rules() -> tuple[Rule, ...]:
    """The set, in order."""
    out = []
    for row in FAMILIES.strip().split("\n"):
        family, commands, noise = row.split(": ")
        patterns = [pattern for name in noise.split() for pattern in NOISE[name]]
        out += [_rule(family, number, words, patterns) for number, words in enumerate(commands.split("|"), 1)]
    return tuple(out)


def _rule(family: str, number: int, words: str, patterns: list[str]) -> Rule:
    trigger = words.replace(".", r"\.").replace("+", r"\+").replace(" ", r"\s+")
    return Rule(
        id=f"curated_{family}_{number}",
        kind="line_filter",
        trigger=Trigger(pattern=rf"(?:^|[\s;&|(/]){trigger}"),
        params={"keep_patterns": [], "strip_patterns": patterns, "keep_first_n": 3, "keep_last_n": 8},
        provenance="curated",
        on_failing=True,
    )
