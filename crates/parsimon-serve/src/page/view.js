// What the page shows of the statistics.

const byId = id => document.getElementById(id);

const STREAMS = {
  loss_minus_constant: "loss − constant",
  loss_minus_reference: "loss − reference",
  calibration: "prediction − outcome",
  label_rate: "label rate",
  refused_share: "refused share",
};

/// Neighbours added up, so that a chart has at most about so many points.
const grouped = (stretches, most) => {
  const size = Math.ceil(stretches.length / most), length = stretches.length > 1 ? stretches.at(-1).start - stretches.at(-2).start : 1;
  if (size < 2) return stretches;
  const groups = new Map();
  for (const stretch of stretches) {
    // By the clock, so that a group stays the same while time goes on.
    const start = Math.floor(stretch.start / (length * size)) * length * size, group = groups.get(start);
    if (!group) groups.set(start, { ...stretch, start });
    else for (const [name, value] of Object.entries(stretch)) if (name !== "start") group[name] += value;
  }
  return [...groups.values()];
};

/// A ratio of two sums over a trailing window of stretches, at the time of each.
const trailing = (stretches, above, below, window) => {
  const points = [];
  let up = 0, down = 0;
  for (const [k, stretch] of stretches.entries()) {
    up += above(stretch);
    down += below(stretch);
    if (k >= window) {
      up -= above(stretches[k - window]);
      down -= below(stretches[k - window]);
    }
    points.push([stretch.start, down > 1e-9 ? up / down : NaN]);
  }
  return points;
};

/// The upper bound of the bucket in which a share of all durations ends.
const quantile = (counts, bounds, share) => {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (!total) return NaN;
  let sum = 0;
  for (const [k, n] of counts.entries()) {
    sum += n;
    if (sum >= share * total) return bounds[k] ?? Infinity;
  }
  return Infinity;
};
const upTo = s => s === Infinity ? "> 5 s" : seconds(s);

const drawCharts = (news, store, isDay) => {
  const all = isDay ? store.periods : store.fine, stretches = grouped(all, 120), window = 3;
  const marks = names => news.alarms.latest.filter(alarm => names.includes(alarm.stream));
  const weight = s => s.weight;
  const loss = [
    { name: "model", points: trailing(stretches, s => s.loss, weight, window) },
    { name: "constant", look: "dashed", points: trailing(stretches, s => s.constant, weight, window) },
  ];
  if (news.reference) loss.push({ name: "reference", look: "dotted", points: trailing(stretches, s => s.reference, s => s.paired, window) });
  timeChart(byId("loss"), "Progressive loss", loss, { marks: marks(["loss_minus_constant", "loss_minus_reference"]), height: 240 });
  const isBinary = news.is_binary;
  for (const id of ["calibration", "ratio"]) byId(id).hidden = !isBinary;
  if (isBinary) {
    curveChart(byId("calibration"), news.curve);
    const ratio = trailing(stretches, s => s.predicted, s => s.happened, window);
    timeChart(byId("ratio"), "Calibration ratio", [{ name: "predicted ÷ happened", points: ratio }], { marks: marks(["calibration"]), even: 1 });
  }
  const labels = { name: isBinary ? "share of the second class" : "mean label", points: trailing(stretches, s => s.happened, weight, window) };
  timeChart(byId("labels"), "Label rate", [labels], { format: isBinary ? percent : digits, marks: marks(["label_rate"]), zero: isBinary });
  const refused = trailing(stretches, s => s.refused, s => s.refused + s.rows - s.expired, window);
  timeChart(byId("refused"), "Refused rows", [{ name: "share", points: refused }], { format: percent, marks: marks(["refused_share"]), zero: true });
  const lags = [
    { name: "acknowledged, p99", points: store.lags.map(l => [l.time, l.commit]) },
    { name: "then visible, p99", look: "dashed", points: store.lags.map(l => [l.time, l.visible]) },
  ];
  timeChart(byId("lag"), "Lag", lags, { format: seconds, zero: true });
  // The first and the last stretch may be incomplete.
  const done = stretches.slice(1, -1), length = stretches.length > 1 ? stretches.at(-1).start - stretches.at(-2).start : NaN;
  const perSecond = of => done.map(s => [s.start, of(s) / length * 1000]);
  const rates = [{ name: "learned", points: perSecond(s => s.rows) }];
  if (stretches.some(s => s.labelled + s.expired)) rates.push(
    { name: "labelled later", look: "dashed", points: perSecond(s => s.labelled) },
    { name: "default label", look: "dotted", points: perSecond(s => s.expired) });
  timeChart(byId("rate"), "Rows per second", rates, { zero: true });
};

const drawTiles = (news, store) => {
  const recent = store.fine.slice(-12), sum = of => recent.reduce((total, s) => total + of(s), 0);
  const weight = sum(s => s.weight), loss = sum(s => s.loss) / weight, constant = sum(s => s.constant) / weight;
  const paired = sum(s => s.paired), reference = sum(s => s.reference) / paired, live = sum(s => s.paired_loss) / paired;
  const period = recent.length * news.fine_ms / 1000, better = (a, b) => percent(Math.abs(1 - a / b)) + (a <= b ? " below" : " above");
  const lag = store.lags.at(-1) ?? {};
  const tiles = [
    ["loss", digits(loss), Number.isFinite(news.progressive_loss) ? `${digits(news.progressive_loss)} since the first row` : "no rows yet"],
    ["constant", digits(constant), weight ? `the model is ${better(loss, constant)}` : ""],
    ["reference", paired ? digits(reference) : "–", paired ? `the model is ${better(live, reference)}` : "taken after 10,000 rows"],
  ];
  if (news.is_binary) tiles.push(
    ["calibration", digits(sum(s => s.predicted) / sum(s => s.happened)), "predicted ÷ happened"],
    ["label rate", percent(sum(s => s.happened) / weight), `${digits(news.pending_labels)} rows wait for labels`]);
  tiles.push(
    ["refused", percent(sum(s => s.refused) / (sum(s => s.refused) + sum(s => s.rows - s.expired))), "of rows to learn"],
    ["rows", digits(news.rows), `${digits(sum(s => s.rows) / period)} per second`],
    ["nonzeros", digits(news.nonzeros), "weights"],
    ["visible after", seconds(lag.visible), `${digits(news.waiting_rows)} rows in the queue`],
    ...(news.lag ? [["behind the leader", seconds(news.lag.seconds), `${digits(news.lag.records)} records`]] : []),
    ["record", digits(news.visible_seq), `durable ${digits(news.durable_seq)}, epoch ${news.version.epoch}`]);
  byId("tiles").replaceChildren(...tiles.map(([name, value, more]) => htmlElement("dl", { class: "tile" },
    htmlElement("dt", {}, name), htmlElement("dd", {}, value, htmlElement("small", {}, more)))));
};

const at = time => new Date(time).toLocaleTimeString("en", { hour12: false });

const drawAlarms = news => {
  const { streams, latest } = news.alarms, unit = news.period_ms === 60000 ? "minutes" : `periods of ${seconds(news.period_ms / 1000)}`;
  const present = streams.filter(s => s.present).map(s => latest.findLast(alarm => alarm.stream === s.stream)).filter(Boolean);
  byId("present").replaceChildren(...present.map(alarm => htmlElement("p", {},
    htmlElement("b", {}, "Alarm: "), `${alarm.message}, noticed at `, htmlElement("time", {}, at(alarm.time)))));
  byId("streams").replaceChildren(...streams.map(s => {
    const meter = htmlElement("meter", { min: 0, max: 1, low: 0.5, high: 0.8, optimum: 0, value: s.evidence, "aria-label": "evidence" });
    return htmlElement("tr", s.present ? { class: "bad" } : {}, htmlElement("td", {}, STREAMS[s.stream]),
      htmlElement("td", { class: "number" }, s.mean === null ? "–" : digits(s.mean)),
      htmlElement("td", {}, s.watching ? meter : "collecting"), htmlElement("td", { class: "number" }, String(s.raised)));
  }));
  byId("promise").textContent = `Of a stable stream, an alarm is false once in 43,200 ${unit} or less often, on average.`;
  byId("raised").replaceChildren(...latest.slice(-5).reverse().map(a => htmlElement("li", {}, `${at(a.time)}: ${a.message}`)));
};

const drawMoved = news => {
  const most = Math.max(...news.moved.flatMap(m => [Math.abs(m.before), Math.abs(m.now)]), 1e-12);
  byId("moved").replaceChildren(...news.moved.map(({ feature, before, now }) => {
    const svg = svgElement("svg", { viewBox: "-100 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" });
    const bar = (value, y, height, kind) => svgElement("rect", { class: kind, x: Math.min(0, value / most * 98), width: Math.abs(value / most * 98), y, height, ...(y ? {} : { opacity: 0.45 }) });
    const kind = now >= before ? "up" : "down";
    svg.append(bar(before, 0, 6, kind), bar(now, 7, 7, kind), svgElement("line", { class: "axis", x1: 0, x2: 0, y1: 0, y2: 14 }));
    return htmlElement("tr", {}, htmlElement("td", {}, feature), htmlElement("td", { class: "bar" }, svg),
      htmlElement("td", { class: "number" }, `${digits(before)} → ${digits(now)}`));
  }));
  const { reference } = news;
  byId("since").textContent = reference
    ? `Since the reference: epoch ${reference.version.epoch}, record ${digits(reference.version.seq)}, ${digits(reference.rows)} rows.`
    : "Since the first row; the reference is taken after 10,000 rows.";
};

const drawLatency = store => {
  const [first, last] = [store.requests[0], store.requests.at(-1)];
  if (!last) return;
  const span = Math.max(1e-9, (last.time - first.time) / 1000);
  byId("latency").replaceChildren(...Object.entries(last.operations).flatMap(([op, counts]) => {
    const fresh = counts.map((n, k) => n - (first.operations[op]?.[k] ?? 0)), total = fresh.reduce((sum, n) => sum + n, 0);
    if (!total || op === "events") return [];
    const cells = [digits(total / span), ...[0.5, 0.99, 0.999].map(share => upTo(quantile(fresh, last.bounds, share)))];
    return [htmlElement("tr", {}, htmlElement("td", {}, op), ...cells.map(text => htmlElement("td", { class: "number" }, text)))];
  }));
};
