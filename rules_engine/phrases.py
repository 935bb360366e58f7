"""How tools say that something failed or ended: patterns only, each to be searched in a whole text, line by line.

All but `NOTHING` are for `scan.find_lines`.
"""

from __future__ import annotations

import re2

from rules_engine import features
from rules_engine.scan import compile_lines

_START = r"^(?:[ \t]|\x1b\[[\d;]*m)*"
_LEFT = r"(?:^|[ \t\r\"'“(\[{<>:;,|*!=#]|\x1b\[[\d;]*m)"
_RIGHT = r"(?:$|[ \t\r\"'”)\]}<>:;,!?|(*\x1b]|\.(?:[ \t\r.]|$))"


_WORDS = (
    "errors?|err|errored|error'd|fail|fails|failed|failing|failures?|fatal|exceptions?|panic|panicked|abort|aborted|crash|crashed"
    "|killed|oomkilled|denied|refused|rejected|unauthorized|forbidden|unreachable|unresolved|timeout|time-out|timed[ -]?out|conflicts?"
    "|corrupt|corrupted|corruption|invalid|illegal|unexpected|unrecogni[sz]ed|unsupported|cannot|can't|can not|couldn't|could not"
    "|unable to|not found|not exist|doesn't exist|no such|not permitted|not allowed|not recogni[sz]ed|not a git repository|not supported"
    "|mismatch|mismatched|violation|violated|terminated|interrupted|unhandled|uncaught|unmet|stack overflow|out of memory|no space left"
    "|deadline exceeded|quota exceeded|rate limit(?:ed)?|too many requests|already in use|unbound variable|bad substitution"
    "|crashloopbackoff|imagepullbackoff|errimagepull|evicted|read-only file system|is a directory|broken pipe|core dumped"
    "|connection (?:reset|closed|aborted)|no route to host|name or service not known|no module named|no matching distribution|no matches found"
)
_FOREIGN_BEFORE = (
    "fehler|fehlgeschlagen|gescheitert|abgebrochen|nicht gefunden|verweigert|erreur|échec|échoué|échouée|introuvable|refusée?"
    "|fallo|falló|fallado|fallida|denegado|no encontrado|no existe|erro|falha|falhou|negado|não encontrado|errore|fallito|negato"
    "|non trovato|fout|mislukt|niet gevonden|fel|misslyckades|fejl|mislykkedes|feil|mislyktes|virhe|epäonnistui|błąd|chyba|selhalo"
    "|hiba|sikertelen|eroare|hata|başarısız|greška|kesalahan|gagal|lỗi|thất bại"
)
_FOREIGN = (
    "ошибк|сбой|не удалось|не найден|отказано|помилк|не вдалося|грешка|σφάλμα|αποτυχία|错误|失败|异常|找不到|拒绝|超时"
    "|錯誤|失敗|例外|逾時|エラー|見つかりません|拒否|오류|실패|에러|찾을 수 없|ข้อผิดพลาด|ล้มเหลว|خطأ|فشل|שגיאה|נכשל|त्रुटि|विफल"
)

SPOKEN = compile_lines(f"{_LEFT}(?:{_WORDS}|{_FOREIGN_BEFORE}){_RIGHT}", _FOREIGN)
"""A word that tells of failure, standing as a word. Not what it is in a passing test's name or in code: see `SAID_ELSEWHERE`."""

STATED = compile_lines(
    rf"{_LEFT}(?:[a-z]+ )?(?:error|fatal|exception|failure)(?:\[[\w-]+\]|[ \t]+[A-Z]{{1,8}}-?\d+)?:[ \t]",
    r"(?-i:(?:^|[ \t\"'(\[:,;>|.\\/])[A-Z][A-Za-z0-9]*(?:Error|Exception|Failure|Panic|Fault|Interrupt|Timeout)(?:$|:[ \t\r]|:$|\)|[ \t\r]+$))",
    r"(?-i:\b(?:E(?:NOENT|ACCES|ADDRINUSE|CONNREFUSED|CONNRESET|TIMEDOUT|PERM|EXIST|MFILE|PIPE|INVAL|RESOLVE|ROFS|NOSPC|HOSTUNREACH|AI_AGAIN)|ERR_[A-Z_]+)\b|(?:[Ss]ignal:?|[Rr]eceived|[Gg]ot|by|with|code) \(?SIG[A-Z]{2,6}\b)",
    r"(?-i:\b(?:npm|pnpm|yarn|bun) (?:ERR!|error|ERROR)|ERR!|##\[error\]|::error|\b(?:ORA|PLS|LNK|MSB|NU|NETSDK)-?\d{4,5}\b|SQLSTATE)",
    r"(?-i:^(?:[ \t]|\x1b\[[\d;]*m)*(?:E {3,}\S|E: |> {3,}\S|FAIL(?:ED)?\b|not ok\b|--- FAIL|# (?:FAIL|ERROR): *[1-9]|Killed\b|Aborted\b|Terminated\b|ninja: build stopped))",
    rf"{_START}(?:[✗✘✕✖❌⨯⛔🔴🚫🛑💥×]|● .+ › )",
    r"^(?:g?make|mingw32-make)(?:\[\d+\])?: \*\*\* ",
    r"traceback \(most recent|stack trace(?:back)?:|^goroutine \d+ \[|^panic:|panicked at|segmentation fault|bus error|illegal instruction|floating point exception",
    r"undefined (?:reference|symbols?|name|names|variable|method|local|function|identifier|index|offset|property|behavio)|\bundefined: |unresolved (?:external|import|reference|symbol)|multiple definition of",
    r"(?-i:\bCONFLICT\b)|both modified:|both added:|unmerged paths|merge conflict|automatic merge failed|! \[rejected\]",
    r"exit(?:ed)?(?: with)?(?: exit)?(?: ?(?:code|status|value))?[^\w\n]{1,3}[1-9]\d{0,2}\b|exit_?code[^\w\n]{1,3}[1-9]|returned (?:a )?non-?zero|return(?:ed)? (?:code|status)?[^\w\n]{1,2}[1-9]\d{0,2}\b|\brc=[1-9]|status=[1-9]\d*/|active: failed",
    r"\bHTTP/[\d.]+\"? [45]\d\d|\b(?:status|code|response|http)(?: code)?[^\w\n]{1,3}[45]\d\d\b|\b4\d\d (?:bad request|unauthorized|forbidden|not found|method not|conflict|gone|too many|unprocessable)|\b5\d\d (?:internal|not impl|bad gateway|service|gateway)",
    r"\bexpected\b.*\b(?:got|but|received|actual|found|instead)\b|^[ \t]*(?:expected|received|actual|want|got)\b[^:=\n]{0,20}[:=]|assert(?:ion)?s? (?:failed|error)",
    r":\d+:\d+:? +(?-i:[A-Z]{1,4}\d{2,5}\b|[CWEFR]: )|\^-- SC\d{4}|FullyQualifiedErrorId|CategoryInfo +:|\b(?:failed|errors?|failures|unreachable)=[1-9]|(?-i:\w\.(?:ERROR|CRITICAL|FATAL|ALERT|EMERGENCY): )|execution halted|level\"?[=:] ?\"?(?:error|fatal|critical|panic|emerg|alert)",
    r"^[\w./\\:-]+\.(?:py|rb|js|ts|php)(?: |:: ?)[.sxXPRf]*(?-i:[FE])[.sxXFEPR]*(?:[ \t]+\[ *\d+%\])?[ \t\r]*$",
    r"^=+ (?:failures|errors) =+$|\b[1-9]\d* (?:tests? |specs? |examples? |suites? |checks? |jobs? )?(?:failed|failing|failures?|errors?|errored|problems?|vulnerabilities)\b",
)
"""Wordings that tell of failure wherever they stand."""

_ZERO_BEFORE = r"(?:^[ \t]*|[,;:(\[|=/·•+✖✗-][ \t]*|\b(?:pass|passed|passing|and|with|ok|succeeded|skipped|found|had|has|tests|total|reported|generated|are|were|was|there|produced|contains)\b[ \t]+)"
_ILLS = "(?:errors?|errored|failed|fails?|failing|failures?|exceptions?|problems?|conflicts?|crashes|timeouts?|unreachable|rejected|killed|fatal|broken|invalid|vulnerabilities|issues)"
NOTHING = re2.compile(
    rf"(?mi){_ZERO_BEFORE}0 +(?:[a-z]+ +)?{_ILLS}\b"
    rf"|\b(?:no|zero|without(?: any)?) +(?:[a-z]+ +)?(?:errors?|failures?|exceptions?|problems?|conflicts?|crashes|vulnerabilities|issues)\b"
    rf"|\b{_ILLS}\"?[ \t]*[:=][ \t]*(?:0(?:$|[ \t\r,;)}}\]|])|(?:none|\(none\)|n/a|false|null|nil|<nil>|no|\[\]|\{{\}}|\"\")[ \t\r]*(?:$|[,;)}}\]|]))"
    rf"|\b(?:fail|failed|failures?|errors?|cancelled)[ \t]+0(?:$|[ \t\r,;)\]])"
)
"""Counts of nothing: "0 failed", "no errors", "failures: 0". They are taken out before a text is searched."""

SAID_ELSEWHERE = compile_lines(
    r"^[ \t]*(?:[✓✔√☑✅]|ok \d|--- PASS|=== (?:RUN|PAUSE|CONT)|PASS\b|\[ *(?:OK|RUN|PASS|PASSED) *\])",
    r"(?:\.\.\. ?|[ \t])(?:passed|ok)(?:[ \t]*[\[(][^\])\n]*[\])])?[ \t\r]*$",
    r"^[ \t]*(?:compiling|checking|downloading|downloaded|collecting|installing|unpacking|adding|fetching|inflating|creating|copying|building|selecting)\b:? [^ \t:\n]+(?: [v(]?[\d.]\S*)?[ \t\r]*$",
    r"^[ \t]*--?[a-z][\w-]*(?:[ ,=\[<\t]|$)|^(?:[*|/\\ ]*)[0-9a-f]{7,12} \(?[a-z]",
    r"(?-i:^[ \t]*(?:\d+[→\t|:-][ \t]*)?(?:(?:if|elif|while|for|switch|catch|with)\b(?: *\(| .*[:{][ \t]*$)|(?:else|try|finally)\b ?[:{]"
    r"|return [^\d\n]|raise [A-Z]\w*(?:\(|$)|except\b.*:[ \t]*$|throw |(?:async )?def \w|class \w+[:({ ]|(?:const|let|var) \w+ ?[:=]"
    r"|(?:func|fn|pub|export|public|private|protected|static|yield|await|assert) |(?:describe|it|test)[.(]|from \S+ import |import \S+(?: as \w+| from .*)?;?[ \t]*$))",
    r"^[-dlbcps][rwxst-]{9}|(?-i:^[ \t]*(?:errors?|exceptions|failures|conflicts)/?[ \t\r]*$)",
    r"^[ \t]*(?:\d+[→\t|:-][ \t]*)?(?:#|//|/\*|\*|<!--|@|\"\"\"|''')",
    r"(?:[;{]|\):|\)|\\)[ \t\r]*$",
)
"""Lines in which a word of `SPOKEN` is a name, code, a comment or help: it states no failure."""

_ENDS = (
    "success|successful|successfully|succeeded|succeeds|complete|completed|completes|finished|done|passed|passes|passing|up[- ]to[- ]date"
    "|no changes?|unchanged|nothing|no tests?|no matches|no results?|no output|no such|warnings?|deprecated|missing|skipped|skipping"
    "|ignored|cancelled|canceled|stopped|exited|merged|pushed|deployed|published|saved|written|wrote|created|deleted|removed|updated"
    "|upgraded|installed|uninstalled|generated|restored|reverted|committed|applied|verified|listening on|running on|running at|ready|started"
    "|switched to|head is now|fast-forward"
    "|bad|wrong|incorrect|already (?:up|exists?|installed|the newest|on|running|in|merged|applied|been)|traceback|return code"
)
_FIGURES = "totals?|summary|results?|verdict|score|accuracy|coverage|elapsed|took|duration|status|state|valid|clean|exit|usage|loss"
_ENDS_FOREIGN = (
    "erfolgreich|abgeschlossen|fertig|réussi|terminé|succès|completado|éxito|correctamente|terminado|concluído|sucesso|completato"
    "|riuscito|voltooid|geslaagd|успешно|завершен|готово|выполнено|成功|完成|通过|完了|完毕|已安装|已更新|완료|성공|thành công"
)

VERDICTS = compile_lines(
    f"{_LEFT}(?:{_ENDS}){_RIGHT}",
    rf"{_START}(?:{_FIGURES}){_RIGHT}|\b(?:{_FIGURES})\"?[ \t]*(?:[:=]|[\d.]+[ms%]*(?:$|[ \t,]))",
    f"\\b(?:{_WORDS})\\b",
    _ENDS_FOREIGN,
    _FOREIGN,
    r"\b\d[\d,.]*%?[ \t]+(?:[a-z-]+[ \t]+){0,2}?(?:passed|failed|errors?|warnings?|tests?|specs?|examples?|assertions?|suites?|skipped|ignored|pending|failures?|problems?|issues?|vulnerabilit(?:y|ies)|files? changed|insertions?|deletions?|changed|upgraded|added|removed|rows?|records?|matches|hits|commits?)\b",
    r"(?-i:^(?:[ \t]|\x1b\[[\d;]*m)*(?:PASS|FAIL|OK|ok|FAILED|PASSED|BUILD|SUCCESS|TOTAL|[✓✔√☑✅⚠✨🎉]|test result|Tests?:|Ran \d|not ok|[WE]: ))",
    r"(?:\.\.\. ?|[ \t])(?:passed|ok)(?:[ \t]*[\[(][^\])\n]*[\])])?[ \t\r]*$|\bexit(?:ed)? (?:code|status|with)|^=+ .* =+$",
    r"\b\d[\d,.]* (?:[a-z]+ )?(?:lines|characters|chars|bytes|tokens)(?: (?:were|was|have been))? (?:truncated|omitted|skipped|clipped|elided|hidden)",
    r"[\[<(](?:[a-z.]+ ){0,2}(?:truncated|clipped|omitted|elided)\b|\b(?:output|content|result|response)s?(?: was| has been| is)? (?:truncated|clipped|cut off)|\bshowing (?:the (?:first|last) )?lines? \d",
)
"""Lines that state a result or an end, good or bad, and every line with a word that tells of failure; and those by which an
agent says that it has left something out itself, which nobody would know without."""

PROGRESS = compile_lines(
    r"^(?:remote: )?(?:enumerating|counting|compressing|receiving|writing|resolving|unpacking|updating|filtering) \w+: +[\d%() ,./|KMGTiBbytes]*(?:, done\.)?[ \t\r]*$",
    r"^[ \t]*[0-9a-f]{12}:? (?:pulling fs layer|waiting|verifying checksum|downloading|download complete|extracting|pull complete|already exists)\b",
    r"^remote: total \d+ \(delta \d+\),[ \w(),-]*$",
    r"^(?:reading (?:package lists|state information)|building dependency tree)\.{3}[ \d%]*(?:done)?[ \t\r]*$",
)
"""Steps of a transfer that end in "done" without being an end."""

SECTION = compile_lines(r"^=+ (?:failures|errors) =+$")
"""The heading of a report's failures; they go on to the next `RULE`."""

RULE = compile_lines(r"^={3,}(?: .* )?={3,}$")

PARAGRAPH = compile_lines(r"^(?:error\[\w+\]: |panic:|goroutine \d+ \[|fatal error: |thread '.*panicked)")
"""Heads of blocks that go on to the next blank line."""

CONTINUED = compile_lines(
    r"^[ \t]*(?:\d* *[|│]|[\^~]|-->|= (?:note|help)|note:|help:|hint:|caused by|during handling|the above exception|\.\.\. \d+ more|at |[╰╭└├╷╵]|required from)"
)
"""Lines that go on with a block although they are not indented."""

CARET = compile_lines(r"^[ \t\d|]*[\^~][\^~ \t-]*\S{0,40}[ \t\r]*$")
LEADING = compile_lines(r"^(?:in file included from|[ \t]+from \S+[:,]\d|\S+: (?:in|at) )")
"""Lines that say where the failure after them is."""

PASSING = compile_lines(features.PATTERNS["passing"], flags="m")
"""Items of a list that passed, perhaps of one job among several."""
TROUBLE = compile_lines(
    r"\b(?:errors?|exceptions?|failed|failures?|fatal|panic|traceback|not found|denied|timed? ?out|warnings?|success(?:ful(?:ly)?)?|completed|up to date)\b",
    r"\b\d+ (?:passed|tests?|skipped)\b|\bexit (?:code|status)\b|^(?:pass|fail|ok|build)\b",
)
"""Words that who looks for trouble or an end looks for: items with them stay, even where they passed."""

GIVEN = compile_lines(
    r"\b(?:creat|submit|regist|provision|launch|start|alloc|assign|issu|generat|add|deploy|publish|upload|listen)[a-z]*\b.*\b(?:id|arn|uuid|url|token"
    r"|password|passwd|secret|port|endpoint|address|login)\b[\"']?(?:[ \t]*[:=]|[ \t]+)[ \t]*[\"']?\S*\d"
)
"""What was made, with that by which the next command will name it."""

TABLE = compile_lines(
    r"^[A-Z][A-Z0-9_%/()+#-]*(?: [A-Z0-9_%/()+#-]+)*(?:(?: {2,}|\t)[A-Z][A-Z0-9_%/()+#-]*(?: [A-Z0-9_%/()+#-]+)*){2,}[ \t\r]*$",
    flags="m",
)
"""The heading of a table, as tools print it that were asked for one; its rows go on to the next blank line."""
