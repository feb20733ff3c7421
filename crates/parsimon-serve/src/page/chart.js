"use strict";
// Charts as SVG: lines over time, and the calibration curve.

const svgElement = (name, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const htmlElement = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

/// A number with three digits that count.
const digits = x => {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size >= 1e6) return `${(x / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return Math.round(x).toLocaleString("en");
  if (size >= 100 || Number.isInteger(x)) return String(Math.round(x));
  return size !== 0 && size < 1e-4 ? x.toExponential(1) : String(Number(x.toPrecision(3)));
};
const percent = x => Number.isFinite(x) ? `${digits(100 * x)}%` : "–";
const seconds = s => !Number.isFinite(s) ? "–" : s < 1e-3 ? `${digits(s * 1e6)} µs` : s < 1 ? `${digits(s * 1e3)} ms` : `${digits(s)} s`;

/// Round numbers that cover a range.
const ticks = (low, high, most) => {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(k => k * power).find(step => step >= rough * 0.999);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(k * step);
  return list;
};

const MARGIN = { left: 52, right: 14, top: 12, bottom: 26 };

const frame = (figure, title, height) => {
  const width = Math.max(260, figure.clientWidth);
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
  svg.append(svgElement("title", {}, title), svgElement("rect", { class: "page", width, height }));
  return { svg, width, height };
};

/// The heading of a chart with the latest values.
const caption = (title, series) => {
  const names = series.map(({ name, look, latest }, k) => {
    const sample = htmlElement("i", { class: `s${k} ${look ?? ""}` });
    return htmlElement("span", {}, sample, `${name} ${latest}`);
  });
  return htmlElement("figcaption", {}, htmlElement("b", {}, title), ...names);
};

const show = (figure, parts) => figure.replaceChildren(...parts);

/// Lines over time. A series has a name, points [time, value], and perhaps a look; `format` writes values.
const timeChart = (figure, title, series, { format = digits, marks = [], zero = false, even, height = 200 } = {}) => {
  const { svg, width } = frame(figure, title, height);
  const points = series.flatMap(s => s.points);
  const heads = series.map(s => ({ ...s, latest: format(s.points.at(-1)?.[1]) }));
  const values = points.map(p => p[1]).filter(Number.isFinite);
  if (values.length < 2) {
    svg.append(svgElement("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "waiting for rows"));
    return show(figure, [caption(title, heads), svg]);
  }
  // The first points of a young model may be far off; they leave the chart at its top.
  const sorted = [...values].sort((a, b) => a - b), at = share => sorted[Math.floor(share * (sorted.length - 1))];
  let low = zero ? 0 : at(0.01), high = at(0.985);
  if (even !== undefined) [low, high] = [Math.min(low, even), Math.max(high, even)];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  [low, high] = [zero ? 0 : low - room, high + room];
  const times = points.map(p => p[0]), begin = Math.min(...times), end = Math.max(...times, begin + 1);
  const x = t => MARGIN.left + (t - begin) / (end - begin) * (width - MARGIN.left - MARGIN.right);
  const y = v => height - MARGIN.bottom - (v - low) / (high - low) * (height - MARGIN.top - MARGIN.bottom);
  for (const value of ticks(low, high, 4)) {
    svg.append(svgElement("line", { class: "rule", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }));
    svg.append(svgElement("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  }
  const span = end - begin, count = Math.max(2, Math.floor((width - 90) / 120));
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false, ...(span < 600e3 ? { second: "2-digit" } : {}) };
  for (let k = 0; k < count; k++) {
    const time = begin + span * k / (count - 1), anchor = k === 0 ? "start" : k === count - 1 ? "end" : "middle";
    svg.append(svgElement("text", { x: x(time), y: height - 7, "text-anchor": anchor }, new Date(time).toLocaleTimeString("en", clock)));
  }
  if (even !== undefined) svg.append(svgElement("line", { class: "even", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(even), y2: y(even) }));
  for (const { time, message } of marks.filter(({ time }) => time >= begin && time <= end)) {
    const mark = svgElement("g");
    mark.append(svgElement("title", {}, message), svgElement("line", { class: "alarm", x1: x(time), x2: x(time), y1: MARGIN.top - 2, y2: height - MARGIN.bottom }));
    mark.append(svgElement("path", { class: "mark", d: `M${x(time) - 6} ${MARGIN.top - 10}h12l-6 9z` }));
    svg.append(mark);
  }
  for (const [k, { points, look = "" }] of series.entries()) {
    let path = "", isOpen = false;
    for (const [time, value] of points) {
      if (Number.isFinite(value)) {
        path += `${isOpen ? "L" : "M"}${x(time).toFixed(1)} ${Math.max(MARGIN.top, Math.min(height - MARGIN.bottom, y(value))).toFixed(1)}`;
        isOpen = true;
      } else isOpen = false;
    }
    svg.append(svgElement("path", { class: `line s${k} ${look}`, d: path || "M0 0" }));
  }
  show(figure, [caption(title, heads), svg]);
};

/// Mean predictions against outcomes, on logarithmic axes; larger dots stand for more rows.
const curveChart = (figure, bins, height = 200) => {
  const title = "Calibration curve", { svg, width } = frame(figure, title, height);
  const shown = bins.filter(([, p, share]) => p > 0 && share > 0);
  const head = htmlElement("figcaption", {}, htmlElement("b", {}, title), htmlElement("span", {}, "outcome against prediction, latest rows"));
  if (!shown.length) {
    svg.append(svgElement("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "waiting for rows"));
    return show(figure, [head, svg]);
  }
  const all = shown.flatMap(([, p, share]) => [p, share]);
  const low = Math.log10(Math.min(...all)) - 0.08, high = Math.min(0, Math.log10(Math.max(...all)) + 0.08);
  const x = p => MARGIN.left + (Math.log10(p) - low) / (high - low) * (width - MARGIN.left - MARGIN.right);
  const y = p => height - MARGIN.bottom - (Math.log10(p) - low) / (high - low) * (height - MARGIN.top - MARGIN.bottom);
  const nice = [0.0001, 0.001, 0.01, 0.1, 1].flatMap(k => high - low > 1.6 ? [k] : [k, 2 * k, 5 * k]);
  for (const p of nice.filter(p => Math.log10(p) >= low && Math.log10(p) <= high + 1e-9)) {
    svg.append(svgElement("line", { class: "rule", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(p), y2: y(p) }));
    svg.append(svgElement("text", { x: MARGIN.left - 8, y: y(p) + 4, "text-anchor": "end" }, percent(p)));
    svg.append(svgElement("text", { x: Math.min(x(p), width - MARGIN.right - 14), y: height - 7, "text-anchor": "middle" }, percent(p)));
  }
  svg.append(svgElement("line", { class: "even", x1: x(10 ** low), y1: y(10 ** low), x2: x(10 ** high), y2: y(10 ** high) }));
  const most = Math.max(...shown.map(([n]) => n));
  for (const [n, p, share] of shown) {
    const dot = svgElement("circle", { class: "dot s0", cx: x(p), cy: y(share), r: 3 + 6 * Math.sqrt(n / most) });
    dot.append(svgElement("title", {}, `${digits(n)} rows: predicted ${percent(p)}, happened ${percent(share)}`));
    svg.append(dot);
  }
  show(figure, [head, svg]);
};
