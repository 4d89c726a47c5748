"""General: root causes of incidents from service logs."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import Answer, Draft, Family, Flaws, Rules, Scene, Table, check_cells, views

CAUSES = Table(
    "causes",
    ("工单号",),
    {"工单号": "text", "根因服务": "text", "错误码": "text", "处理组": "text"},
    file="故障定位.csv",
)
_CHAIN = ("gateway", "order", "payment", "inventory", "database")
_CODES = (
    "CONN_POOL_FULL",
    "DEADLOCK",
    "CERT_EXPIRED",
    "DISK_QUOTA",
    "STOCK_LOCKED",
    "SIGN_MISMATCH",
    "DNS_TIMEOUT",
    "SCHEMA_DRIFT",
)
_START = dt.datetime(2026, 5, 12, 9, 0, tzinfo=dt.UTC)
_GROUPS = ("网络组", "交易组", "支付组", "库存组", "数据库组", "平台组")


@dataclass(frozen=True)
class _Incident:
    ticket: str
    trace: str
    minute: int
    root: int
    code: str
    noise: str
    noise_at: int
    retried: bool


def _incidents(scene: Scene, codes: list[str], benign: list[str]) -> list[_Incident]:
    r = scene.rng
    made = []
    for ticket in names.codes(r, "INC", scene.some(5, 9), 5):
        root = r.randint(1, 4)
        made.append(
            _Incident(
                ticket,
                f"{r.getrandbits(40):010x}",
                r.randint(0, 500),
                root,
                r.choice(codes),
                r.choice(benign),
                r.randint(0, 4),
                scene.has("retry") and r.random() < 0.6,
            )
        )
    return made


class _Logs:
    """Log lines by service; two services write UTC where the scene has that trap."""

    def __init__(self, scene: Scene) -> None:
        self.shifted = ("payment", "database") if scene.has("timezone") else ()
        self.lines: dict[str, list[tuple[dt.datetime, str]]] = {s: [] for s in _CHAIN}

    def put(self, service: str, moment: dt.datetime, text: str) -> None:
        """Add one line at a moment of Beijing time."""
        shown = moment - dt.timedelta(hours=8) if service in self.shifted else moment
        stamp = f"{shown:%Y-%m-%d %H:%M:%S}.{shown.microsecond // 1000:03d}"
        self.lines[service].append((shown, f"{stamp} {text}"))

    def files(self) -> dict[str, bytes]:
        """One file for each service, in order of time."""
        return {
            f"日志/{service}.log": ("\n".join(text for _, text in sorted(rows)) + "\n").encode()
            for service, rows in self.lines.items()
            if rows
        }


def _trace(logs: _Logs, incident: _Incident, clock: dt.datetime, code: str, *, noisy: bool) -> None:
    """One attempt: the call goes down to the root service, the error comes back up."""
    mark = f"trace={incident.trace}"
    for depth in range(incident.root + 1):
        logs.put(_CHAIN[depth], clock + dt.timedelta(milliseconds=40 * depth), f"INFO {mark} call received")
    if noisy:
        moment = clock + dt.timedelta(milliseconds=5)
        logs.put(_CHAIN[incident.noise_at], moment, f"ERROR {mark} code={incident.noise} continue")
    for depth in range(incident.root, -1, -1):
        text = f"code={code} operation failed"
        if depth < incident.root:
            text = f"code=UPSTREAM_FAIL caused by {_CHAIN[depth + 1]}"
        logs.put(_CHAIN[depth], clock + dt.timedelta(milliseconds=400 - 30 * depth), f"ERROR {mark} {text}")


def _log_files(scene: Scene, incidents: list[_Incident]) -> dict[str, bytes]:
    r = scene.rng
    logs = _Logs(scene)
    for incident in incidents:
        for attempt in range(2 if incident.retried else 1):
            clock = _START + dt.timedelta(minutes=incident.minute, seconds=20 * attempt)
            code = incident.code if attempt == 0 else "RETRY_LIMIT"
            _trace(logs, incident, clock, code, noisy=scene.has("benign"))
    for _ in range(scene.some(20, 45)):
        moment = _START + dt.timedelta(seconds=r.randint(0, 30_000))
        logs.put(r.choice(_CHAIN), moment, f"INFO trace={r.getrandbits(40):010x} ok {r.randint(3, 90)}ms")
    return logs.files()


def _cause_view(incidents: list[_Incident], owners: dict[str, str], timezone: bool, flaws: Flaws) -> Answer:
    rows = []
    for i in incidents:
        service, code = _CHAIN[i.root], i.code
        if "benign" in flaws:
            service, code = _CHAIN[i.noise_at], i.noise
        if "retry" in flaws and i.retried:
            code = "RETRY_LIMIT"
        if "timezone" in flaws and timezone and i.root == 3:
            service, code = "payment", "UPSTREAM_FAIL"
        if "surface" in flaws:
            service, code = "gateway", "UPSTREAM_FAIL"
        rows.append(
            {"工单号": i.ticket, "根因服务": service, "错误码": code, "处理组": owners.get(code, "平台组")}
        )
    return Answer(tables={"causes": rows})


def _manual(scene: Scene, owners: dict[str, str]) -> bytes:
    table = mess.markdown_table([{"错误码": c, "处理组": g} for c, g in owners.items()], ("错误码", "处理组"))
    clocks = "\npayment 和 database 两个服务的日志是 UTC 时间，其余是北京时间。\n"
    return (
        f"# 值班手册\n\n{table}\n表里没有的错误码找平台组。\n\n"
        "UPSTREAM_FAIL 是下游失败往上传的，不是根因；CACHE_MISS、SLOW_QUERY 不影响业务，可以忽略；"
        "第一次失败后客户端会自动重试，\n重试报的 RETRY_LIMIT 也不是根因。\n"
        + (clocks if scene.has("timezone") else "")
    ).encode()


def _fault_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "早上积了一批故障单，根据日志定位一下根因，该转给哪个组。",
            "这几张故障工单到底是哪儿坏的，翻日志查清楚。",
            "运维例会要过这些工单，先帮我把根因和处理组定了。",
        ),
        say(
            "根因是最里面那个真正出错的服务，不是往上层层报的。",
            "别只看网关报的错，要追到最早真正出问题的服务。",
        )
        + "错误码照日志里的写，处理组看值班手册。每张工单一行。",
        spoken.wanted(r, CAUSES),
    )


def _fault(scene: Scene) -> Draft:
    r = scene.rng
    codes = r.sample(_CODES, 5)
    benign = ["CACHE_MISS", "SLOW_QUERY"]
    owners = {c: r.choice(_GROUPS) for c in codes}
    incidents = _incidents(scene, codes, benign)
    files = _log_files(scene, incidents)
    mess.put_export(
        files,
        r,
        "故障工单",
        [
            {
                "工单号": i.ticket,
                "报障人": names.person(r),
                "trace": i.trace,
                "现象": r.choice(("下单失败", "页面报错", "支付转圈")),
            }
            for i in incidents
        ],
    )
    files["值班手册.md"] = _manual(scene, owners)
    gold, adversarial, baseline = views(
        scene, lambda flaws: _cause_view(incidents, owners, scene.has("timezone"), flaws)
    )
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(CAUSES, [i.ticket for i in incidents])
    rule = check_cells(scene, rules, CAUSES, gold, adversarial, limit=12, columns=("错误码", "处理组"))
    instruction = _fault_words(scene)
    return Draft(
        ("故障根因定位", "Root causes of incidents from service logs"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


FAMILIES = (
    Family(
        "gen-incident-cause",
        "general",
        "fault-diagnosis",
        "analysis",
        ("benign", "retry", "timezone", "surface"),
        _fault,
        "运维工程师",
        "故障处理",
        "medium",
    ),
)
