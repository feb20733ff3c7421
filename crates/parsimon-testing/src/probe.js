// Runs in a page whose frames show the pages to be looked at, and writes what is wrong with them into #faults.
const contrast = (a, b) => {
  const channel = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const [x, y] = [a, b].map(color => {
    const [r, g, b] = color.match(/[\d.]+/g).map(c => channel(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  });
  return Math.max(x, y) / Math.min(x, y);
};
const isShown = element => element.checkVisibility();
const short = text => JSON.stringify(text.trim().slice(0, 40));

/// The boxes of the letters of a text, which are smaller than its line.
const ink = text => {
  const box = text.getBoundingClientRect(), trim = box.height * 0.15;
  return { text, left: box.left + 1, right: box.right - 1, top: box.top + trim, bottom: box.bottom - trim };
};
const covers = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function* overflow(page, width) {
  const root = page.documentElement;
  if (root.scrollWidth > root.clientWidth) yield `the page is ${root.scrollWidth} wide in a window of ${width}`;
  const scrolls = element => element && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  for (const element of page.body.querySelectorAll("*"))
    if (isShown(element) && element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
      yield `<${element.localName}> ${short(element.textContent)} reaches beyond the window`;
}

/// Tables that must not need scrolling: narrow windows leave columns out, or stack them.
function* tables(page) {
  for (const table of page.querySelectorAll("table.runs, table.findings"))
    if (isShown(table) && table.offsetWidth > table.parentElement.clientWidth)
      yield `a table is ${table.offsetWidth} wide in a box of ${table.parentElement.clientWidth}`;
}

function* chart(svg) {
  const frame = svg.getBoundingClientRect(), paper = svg.querySelector(".page");
  if (frame.width < 100 || frame.height < 50) { yield "a chart is too small"; return; }
  if (!svg.querySelector("title")) yield "a chart has no title";
  // The digits of a scatter are its points.
  const texts = [...svg.querySelectorAll("text")].filter(text => !text.closest(".cloud")).map(ink);
  for (const [k, a] of texts.entries()) {
    const { text } = a, name = short(text.textContent);
    if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top || a.bottom > frame.bottom)
      yield `${name} is cut off in ${short(svg.querySelector("title").textContent)}`;
    if (text.getBoundingClientRect().height < 9) yield `${name} is too small to be read`;
    const ratio = contrast(getComputedStyle(text).fill, getComputedStyle(paper).fill);
    if (ratio < 4.5) yield `${name} has a contrast of ${ratio.toFixed(1)}`;
    for (const b of texts.slice(0, k)) if (covers(a, b)) yield `${name} covers ${short(b.text.textContent)}`;
  }
}

/// Text that stands on the page's background.
function* words(page) {
  const paper = getComputedStyle(page.body).backgroundColor;
  const seen = new Set();
  for (const element of page.body.querySelectorAll("*")) {
    const isText = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!isText || element.closest("svg, script, style") || !isShown(element)) continue;
    const { color } = getComputedStyle(element);
    if (seen.has(color)) continue;
    seen.add(color);
    const ratio = contrast(color, paper);
    if (ratio < 4.5) yield `<${element.localName}> ${short(element.textContent)} has a contrast of ${ratio.toFixed(1)}`;
  }
}

function* links(page) {
  for (const link of page.querySelectorAll("a[href^='#']"))
    if (!page.getElementById(link.getAttribute("href").slice(1))) yield `${link.hash} leads nowhere`;
  for (const image of page.images) if (!image.naturalWidth) yield `${image.getAttribute("src")} cannot be shown`;
}

/// Presses every heading of a table that can be sorted, twice, and looks at the order.
function* sorting(page) {
  for (const table of page.querySelectorAll("table.runs"))
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      const button = head.querySelector("button");
      if (!button && head.textContent) yield `the heading ${short(head.textContent)} does not sort`;
      for (const sign of button ? [1, -1] : []) {
        button.click();
        const cells = [...table.tBodies[0].rows].map(row => row.cells[column].dataset.value);
        const numbers = cells.filter(value => value !== undefined).map(value => sign * value);
        if (numbers.some((value, k) => k && value < numbers[k - 1])) yield `${short(head.textContent)} is not in order`;
        if (numbers.length && cells.slice(0, numbers.length).includes(undefined)) yield `${short(head.textContent)}: what has no number is not last`;
      }
    }
}

// Waiting for the answers keeps the load event from coming before the frames are full.
for (const frame of document.querySelectorAll("iframe[data-address]")) {
  const request = new XMLHttpRequest(), { address } = frame.dataset;
  request.open("GET", address, false);
  request.send();
  // Images that wait until they are scrolled to would not be loaded in a frame below the window.
  const text = request.responseText.replaceAll(' loading="lazy"', "");
  frame.srcdoc = text.replace("<head>", `<head><base href="${address}">`);
}

addEventListener("load", () => {
  const found = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, width = frame.clientWidth;
    const add = fault => found.push(`${frame.title}, ${width} wide: ${fault}`);
    if (!page?.body?.children.length) { add("there is no page"); continue; }
    for (const details of page.querySelectorAll("details")) details.open = true;
    for (const part of [overflow(page, width), tables(page), words(page), links(page), sorting(page)]) [...part].forEach(add);
    const charts = [...page.querySelectorAll("svg")].filter(svg => !svg.parentElement.closest("svg") && isShown(svg));
    if (!charts.length && !page.images.length) add("there are no charts");
    for (const svg of charts) [...chart(svg)].forEach(add);
    if (matchMedia("(prefers-color-scheme: dark)").matches !== SCHEME_IS_DARK) add("the browser has the wrong scheme");
  }
  document.getElementById("faults").textContent = found.join("\n");
});
