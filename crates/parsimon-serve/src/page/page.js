// The connection to the service, and what can be pressed.

const KEPT = { fine: 480, periods: 1440, lags: 240 };
const view = { model: null, source: null, news: null, store: null, isDay: false, versionsOf: "" };
const emptyStore = () => ({ fine: [], periods: [], lags: [], requests: [], counts: null });

const note = text => {
  byId("note").textContent = text;
  byId("note").hidden = !text;
};
const setState = (text, kind) => {
  byId("state").textContent = text;
  byId("state").className = `pill ${kind}`;
};

/// A request; null if a token is needed or the service cannot be reached, with a note on the page.
const ask = async (path, options = {}, attempts = 5) => {
  try {
    const response = await fetch(path, options);
    const answer = await response.json();
    if (response.ok) return answer;
    // A log that is busy with rows takes a promotion a moment later.
    if (response.status === 429 && attempts > 1) {
      await new Promise(done => setTimeout(done, 1000));
      return ask(path, options, attempts - 1);
    }
    if (response.status === 401) {
      byId("sign-in").hidden = false;
      byId("main").hidden = true;
      setState("signed out", "bad");
    } else note(answer.error);
  } catch {
    setState("not reachable", "bad");
  }
  return null;
};
const post = (path, body) => ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
const modelPath = rest => `/v1/models/${encodeURIComponent(view.model)}${rest}`;

/// Puts stretches behind those that are there; the last of these may have grown.
const merge = (kept, fresh, most) => {
  for (const stretch of fresh) {
    const place = kept.findLastIndex(s => s.start <= stretch.start);
    if (place >= 0 && kept[place].start === stretch.start) kept[place] = stretch;
    else kept.splice(place + 1, 0, stretch);
  }
  if (kept.length > most) kept.splice(0, kept.length - most);
};

const take = (news, isAll) => {
  setState(news.is_paused ? "paused" : "live", news.is_paused ? "bad" : "good");
  byId("pause").textContent = news.is_paused ? "Resume learning" : "Pause learning";
  if (isAll) view.store = emptyStore();
  const { store } = view;
  merge(store.fine, news.fine, KEPT.fine);
  merge(store.periods, news.periods, KEPT.periods);
  view.news = news;
  const counts = { commit: news.commit, visible: news.visible };
  if (store.counts && store.bounds) {
    const late = name => quantile(counts[name].map((n, k) => n - store.counts[name][k]), store.bounds, 0.99);
    const lag = { time: news.fine.at(-1)?.start ?? Date.now(), commit: late("commit"), visible: late("visible") };
    if (Number.isFinite(lag.commit)) store.lags.push({ ...lag, time: Date.now() });
    if (store.lags.length > KEPT.lags) store.lags.shift();
  }
  store.counts = counts;
  const version = `${view.model} ${news.version.epoch}`;
  if (version !== view.versionsOf) {
    view.versionsOf = version;
    drawVersions();
    drawShadows();
  }
  draw();
};

const draw = () => {
  const { news, store } = view;
  if (!news || document.hidden) return;
  drawTiles(news, store);
  drawCharts(news, store, view.isDay);
  drawAlarms(news);
  drawMoved(news);
  drawLatency(store);
};

const takeRequests = requests => {
  const { store } = view;
  store.bounds = requests.bounds;
  store.requests.push({ ...requests, time: Date.now() });
  while (store.requests.length > 2 && Date.now() - store.requests[0].time > 30e3) store.requests.shift();
};

/// True for yes, false for no; with a second verb null for Cancel.
const confirmed = (question, yes, other) => new Promise(resolve => {
  const dialog = byId("ask");
  byId("question").textContent = question;
  byId("yes").textContent = yes;
  byId("other").textContent = other ?? "";
  byId("other").hidden = !other;
  for (const id of ["yes", "other", "no"]) byId(id).onclick = () => dialog.close(id);
  dialog.onclose = () => resolve({ yes: true, other: false }[dialog.returnValue] ?? (other ? null : false));
  dialog.returnValue = "no";
  dialog.showModal();
});

const drawVersions = async () => {
  const answer = await ask(modelPath("/versions"));
  if (!answer) return;
  const rows = answer.versions.map(({ epoch, seq, rows, progressive_loss, proof, abandoned, error }) => {
    const name = `epoch ${epoch}, record ${digits(seq)}`;
    const [verb, action] = abandoned ? ["Promote", "promote"] : ["Roll back", "rollback"];
    const button = htmlElement("button", { type: "button", "data-action": action, "data-epoch": epoch, "data-seq": seq }, verb);
    button.disabled = Boolean(error);
    button.onclick = async () => {
      const question = `${verb} to ${name}? Learning goes on from there in a new epoch; what was learned since stays in the log as an abandoned branch.`;
      if (!await confirmed(question, verb)) return;
      note("");
      if (await post(modelPath(`/${action}`), { epoch, seq })) drawVersions();
    };
    const mark = !proof ? [] : proof.holds ? [" ✓"] : [" ", htmlElement("strong", { class: "bad" }, "the log does not lead here")];
    const title = htmlElement("td", {}, name, ...mark, ...(abandoned ? [" ", htmlElement("small", {}, "abandoned")] : []), ...(error ? [` ${error}`] : []));
    return htmlElement("tr", {}, title, htmlElement("td", { class: "number" }, digits(rows)), htmlElement("td", { class: "number" }, digits(progressive_loss)), htmlElement("td", {}, button));
  });
  if (!rows.length) rows.push(htmlElement("tr", {}, htmlElement("td", { colspan: 4 }, "no snapshot yet")));
  byId("versions").replaceChildren(...rows);
};

const drawShadows = async () => {
  const answer = await ask(modelPath("/shadows"));
  if (!answer) return;
  byId("shadows-section").hidden = !answer.shadows.length;
  byId("shadows").replaceChildren(...answer.shadows.map(({ name, settings, rows, progressive_loss, model, stopped }) => {
    const button = htmlElement("button", { type: "button", "data-shadow": name }, "Promote");
    button.disabled = Boolean(stopped);
    button.onclick = async () => {
      const question = `Let the shadow ${name} take the place of the model? Learning goes on with its settings and its weights.`;
      if (!await confirmed(question, "Promote")) return;
      note("");
      if (await post(modelPath("/promote"), { shadow: name })) drawShadows();
    };
    const title = htmlElement("td", { title: JSON.stringify(settings) }, name, ...(stopped ? [` ${stopped}`] : []));
    const number = text => htmlElement("td", { class: "number" }, text);
    return htmlElement("tr", {}, title, number(digits(rows)), number(digits(progressive_loss)), number(digits(model?.progressive_loss)), htmlElement("td", {}, button));
  }));
};

const connect = name => {
  view.source?.close();
  Object.assign(view, { model: name, news: null, store: emptyStore(), versionsOf: "" });
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  document.title = `${name} – parsimon`;
  setState("connecting", "");
  const source = view.source = new EventSource(modelPath("/events"));
  const on = (event, handle) => source.addEventListener(event, ({ data }) => {
    if (view.source !== source) return;
    handle(JSON.parse(data));
  });
  on("all", news => {
    byId("main").hidden = false;
    take(news, true);
  });
  on("news", news => take(news, false));
  on("requests", takeRequests);
  // A browser connects again by itself unless the answer was a refusal.
  source.onerror = () => {
    if (view.source !== source) return;
    setState(source.readyState === EventSource.CLOSED ? "no events" : "connecting again", "bad");
  };
};

const start = async () => {
  const answer = await ask("/v1/models");
  if (!answer) return;
  byId("sign-in").hidden = true;
  const { models } = answer, learning = models.filter(model => model.learns);
  byId("model").replaceChildren(...models.map(({ name, learns }) => {
    const option = htmlElement("option", { value: name }, learns ? name : `${name} (does not learn)`);
    option.disabled = !learns;
    return option;
  }));
  if (!learning.length) return note("No model of this service learns; there is nothing to watch. Scores are in /metrics.");
  const wanted = decodeURIComponent(location.hash.slice(1));
  byId("model").value = learning.some(({ name }) => name === wanted) ? wanted : learning[0].name;
  connect(byId("model").value);
};

byId("model").onchange = () => connect(byId("model").value);
for (const [id, isDay] of [["recent", false], ["day", true]]) byId(id).onclick = () => {
  view.isDay = isDay;
  byId("recent").setAttribute("aria-pressed", String(!isDay));
  byId("day").setAttribute("aria-pressed", String(isDay));
  draw();
};
byId("snapshot").onclick = async () => {
  note("");
  byId("snapshot").disabled = true;
  await post(modelPath("/snapshot"));
  byId("snapshot").disabled = false;
  drawVersions();
};
byId("pause").onclick = async () => {
  note("");
  if (!view.news.is_paused) return post(modelPath("/pause"), { reason: "from the page" });
  // Rows that came meanwhile are in the log; left out, they are never learned.
  const learns = await confirmed("Learn the rows that came meanwhile? Without them learning goes on with the next row.", "Learn them", "Skip them");
  if (learns !== null) await post(modelPath("/resume"), { backlog: learns ? "learn" : "skip" });
};
byId("sign-in").onsubmit = async event => {
  event.preventDefault();
  const response = await fetch("/v1/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token: byId("token").value }) });
  byId("token").value = "";
  if (response.ok) return start();
  byId("sign-in-error").textContent = (await response.json()).error;
};
document.addEventListener("visibilitychange", draw);
addEventListener("resize", draw);
setInterval(() => {
  if (!view.news || document.hidden) return;
  drawVersions();
  drawShadows();
}, 10e3);
start();
