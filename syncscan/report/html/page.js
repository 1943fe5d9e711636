"use strict";
// Draws the report from the JSON in #data. Text of others only ever becomes a text node.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const CHUNK = 200; // rows drawn at once: a browser can sort 100,000 and need not draw them

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// ---- how values are shown

function three(number) {
  return number === 0 ? "0" : Math.abs(number) >= 100 ? Math.round(number).toLocaleString("en") : String(+number.toPrecision(3));
}
function time(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) if (ns >= size) return three(ns / size) + " " + unit;
  return ns ? Math.round(ns) + " ns" : "0";
}
const show = {
  count: three,
  time,
  share: (value) => (100 * value).toFixed(1) + "%",
  counts: ([before, after]) => before === after ? three(after) : three(before) + " → " + three(after),
  times: ([before, after]) => before === after ? time(after) : time(before) + " → " + time(after),
};
const NUMERIC = new Set(Object.keys(show));
const shown = (column, value) => value === null ? "–" : show[column.type] ? show[column.type](value) : value;
const weight = (value) => value === null ? -Infinity : Array.isArray(value) ? value[1] - value[0] : value;

// ---- light and dark

const root = document.documentElement;
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
byId("theme").onclick = () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  drawTimeline();
};

// ---- totals

document.title = data.title;
byId("title").textContent = data.title;
byId("subtitle").textContent = data.subtitle;
for (const { label, value, note } of data.totals) {
  const told = make("dd", "", value);
  if (note) told.append(make("small", "", note));
  byId("totals").append(make("div", "", make("dt", "", label), told));
}
byId("remarks").append(...data.remarks.map((remark) => make("li", "", remark)));

// ---- the table

const { columns, rows } = data;
const sort = { at: data.sort.column, down: data.sort.down };
const open = new Set();
const chosen = new Map(); // column index -> value
let matching = rows.map((_, index) => index);
let drawn = 0;
let haystacks = null;

function haystack(index) {
  haystacks ??= new Array(rows.length);
  return haystacks[index] ??= [...rows[index].cells.filter((cell) => typeof cell === "string"), rows[index].path, rows[index].function, rows[index].expression]
    .join("\n").toLowerCase();
}

function compare(a, b) {
  if (sort.at === null) return a - b;
  const { type, order: known } = columns[sort.at];
  const [x, y] = [rows[a].cells[sort.at], rows[b].cells[sort.at]];
  const order = known.length ? known.indexOf(x) - known.indexOf(y) : NUMERIC.has(type) ? weight(x) - weight(y) || 0
    : (x ?? "") < (y ?? "") ? -1 : (x ?? "") > (y ?? "") ? 1 : rows[a].line - rows[b].line;
  return (sort.down ? -order : order) || a - b;
}

function update() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  matching = [];
  for (let index = 0; index < rows.length; index++) {
    if ([...chosen].every(([at, value]) => rows[index].cells[at] === value) && words.every((word) => haystack(index).includes(word)))
      matching.push(index);
  }
  matching.sort(compare);
  byId("rows").replaceChildren();
  drawn = 0;
  drawMore();
  byId("shown").textContent = (matching.length === rows.length ? "" : three(matching.length) + " of ")
    + three(rows.length) + (rows.length === 1 ? " site" : " sites");
  [...byId("head").children].forEach((cell, at) => {
    if (at === sort.at) cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
    cell.querySelector("span").textContent = at === sort.at ? (sort.down ? " ↓" : " ↑") : "";
  });
}

function drawMore() {
  const part = document.createDocumentFragment();
  for (const index of matching.slice(drawn, drawn + CHUNK)) {
    part.append(rowOf(index));
    if (open.has(index)) part.append(detailOf(index));
  }
  drawn = Math.min(drawn + CHUNK, matching.length);
  byId("rows").append(part);
  byId("more").hidden = drawn >= matching.length;
}

function rowOf(index) {
  const row = make("tr", "row");
  row.tabIndex = 0;
  row.dataset.index = index;
  row.setAttribute("aria-expanded", open.has(index));
  columns.forEach((column, at) => {
    const value = rows[index].cells[at];
    const cell = make("td", NUMERIC.has(column.type) ? "number" : column.type);
    if (column.type === "code" && value && data.rules[value]) cell.append(link(data.rules[value], value));
    else if (column.type === "place") cell.append(make("span", "", ...breakable(value)));
    else cell.append(make("span", column.type === "status" ? value : "", shown(column, value)));
    row.append(cell);
  });
  return row;
}

function breakable(path) { // after the name of a folder, and not within it
  return path.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]);
}

function link(address, text) {
  const anchor = make("a", "", text);
  anchor.href = address;
  anchor.rel = "noopener noreferrer";
  return anchor;
}

function toggle(row) {
  const index = +row.dataset.index;
  const opens = !open.delete(index);
  if (opens) {
    open.add(index);
    row.after(detailOf(index));
  } else row.nextElementSibling.remove();
  row.setAttribute("aria-expanded", opens);
}

function reveal(index) { // a place, from another view or from the address
  if (!matching.includes(index)) {
    byId("filter").value = "";
    chosen.clear();
    byId("facets").querySelectorAll("select").forEach((select) => { select.value = ""; });
    update();
  }
  while (drawn <= matching.indexOf(index)) drawMore();
  selectTab("places");
  const row = byId("rows").querySelector(`tr.row[data-index="${index}"]`);
  if (!open.has(index)) toggle(row);
  row.focus();
  row.scrollIntoView({ block: "center" });
}

function detailOf(index) {
  const row = rows[index];
  const cell = make("td");
  cell.colSpan = columns.length;
  const file = row.path.startsWith("/") ? link("file://" + row.path.split("/").map(encodeURIComponent).join("/"), row.path) : row.path;
  cell.append(make("p", "", file, `:${row.line} in ${row.function}   `, link("#place-" + index, "link to this")));
  cell.append(sourceOf(row));
  if (row.instead) cell.append(make("h3", "", row.fix ? row.fix.title : row.heading), make("p", "", row.instead));
  if (row.fix) cell.append(diffOf(row.fix.lines));
  if (row.evidence.length) cell.append(make("h3", "", "Evidence"), ...row.evidence.map((text) => make("p", "", text)));
  if (row.facts.length) {
    const facts = make("dl", "facts");
    for (const [label, text] of row.facts) facts.append(make("dt", "", label), make("dd", "", text));
    cell.append(make("h3", "", "Measured"), facts);
  }
  for (const [label, frames] of row.stacks) {
    const lines = frames.map((frame) => make("span", "ln", data.frames[frame]));
    cell.append(make("h3", "", label), make("pre", "", ...lines));
  }
  return make("tr", "detail", cell);
}

function sourceOf(row) {
  const lines = data.sources[row.path];
  if (!lines || lines[row.line] === undefined) return row.expression ? make("pre", "", make("span", "ln", make("mark", "", row.expression))) : "";
  const part = make("pre");
  const last = row.end_line ?? row.line;
  for (let number = row.line - data.around; number <= last + data.around; number++) {
    const text = lines[number];
    if (text === undefined) continue;
    const line = make("span", "ln", make("span", "no", String(number)));
    if (number < row.line || number > last) line.append(text);
    else {
      const letters = [...text]; // columns count characters
      const start = number === row.line ? (row.column ?? 1) - 1 : text.length - text.trimStart().length;
      const end = number === last && row.end_column ? row.end_column - 1 : letters.length;
      line.append(letters.slice(0, start).join(""), make("mark", "", letters.slice(start, end).join("")), letters.slice(end).join(""));
    }
    part.append(line);
  }
  return part;
}

function diffOf(lines) {
  const kinds = { "+": "ln add", "-": "ln del" };
  return make("pre", "", ...lines.map((line) => make("span", kinds[line[0]] ?? "ln", line)));
}

columns.forEach((column, at) => {
  const button = make("button", "", column.name, make("span"));
  button.type = "button";
  button.onclick = () => {
    if (sort.at === at) sort.down = !sort.down;
    else Object.assign(sort, { at, down: NUMERIC.has(column.type) });
    update();
  };
  byId("head").append(make("th", NUMERIC.has(column.type) ? "number" : "", button));
  if (column.facet) {
    const values = [...new Set(rows.map((row) => row.cells[at]))].filter((value) => value !== null).sort()
      .sort((a, b) => column.order.indexOf(a) - column.order.indexOf(b));
    if (values.length > 1) {
      const select = make("select", "", new Option("any " + column.name, ""), ...values.map((value) => new Option(value, value)));
      select.setAttribute("aria-label", column.name);
      select.onchange = () => {
        if (select.value) chosen.set(at, select.value);
        else chosen.delete(at);
        update();
      };
      byId("facets").append(select);
    }
  }
});
let waiting = 0;
byId("filter").oninput = () => {
  clearTimeout(waiting);
  waiting = setTimeout(update, rows.length > 20000 ? 150 : 0);
};
byId("rows").onclick = (event) => {
  const row = event.target.closest("tr.row");
  if (row && !event.target.closest("a") && !String(getSelection())) toggle(row);
};
byId("more").firstChild.onclick = drawMore;
new IntersectionObserver((seen) => { if (seen[0].isIntersecting && !byId("places").hidden) drawMore(); }, { rootMargin: "400px" }).observe(byId("more"));

document.onkeydown = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select");
  if (event.key === "Escape") {
    byId("rows").querySelector("tr.row")?.focus();
    return;
  }
  if (typing) return;
  if (event.key === "/") {
    event.preventDefault();
    selectTab("places");
    byId("filter").focus();
    return;
  }
  if (byId("places").hidden || event.target.matches("a, button")) return;
  const row = event.target.closest("tr.row");
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const all = [...byId("rows").querySelectorAll("tr.row")];
    const next = row ? all[all.indexOf(row) + step] : all[0];
    if (next) next.focus();
    else if (step > 0 && drawn < matching.length) drawMore();
  } else if (row && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    toggle(row);
  }
};

// ---- the views

const views = [["places", "Sites"], ["flame", "Flame graph"], ["timeline", "Timeline"]]
  .filter(([id]) => id === "places" || (id === "flame" ? data.stacks.length : data.timeline.length));
function selectTab(id) {
  for (const [other] of views) {
    byId(other).hidden = other !== id;
    byId("tab-" + other)?.setAttribute("aria-selected", other === id);
  }
  if (id === "flame") drawFlame();
  if (id === "timeline") drawTimeline();
}
if (views.length > 1) {
  for (const [id, name] of views) {
    const button = make("button", "", name);
    Object.assign(button, { id: "tab-" + id, type: "button", onclick: () => selectTab(id) });
    button.setAttribute("role", "tab");
    byId("tabs").append(button);
  }
} else byId("tabs").hidden = true;

// ---- the flame graph

let measure = 0;
let zoomed = null; // a path of frames

function tree(at) {
  const top = { value: 0, children: new Map() };
  for (const [frames, weights, place] of data.stacks) {
    if (!weights[at]) continue;
    let node = top;
    node.value += weights[at];
    for (let i = frames.length - 1; i >= 0; i--) {
      let child = node.children.get(frames[i]);
      if (!child) node.children.set(frames[i], child = { value: 0, children: new Map(), frame: frames[i], parent: node, place: null });
      child.value += weights[at];
      node = child;
    }
    node.place = place;
  }
  return top;
}

const trees = [];
function drawFlame() {
  const top = trees[measure] ??= tree(measure);
  const graph = byId("flame-graph");
  const width = graph.clientWidth;
  const inOut = [];
  for (let node = zoomed; node && node.frame !== undefined; node = node.parent) inOut.unshift(node);
  const part = document.createDocumentFragment();
  let deepest = 0;
  const draw = (node, depth, left, right) => {
    if (right - left < 3) return;
    deepest = Math.max(deepest, depth + 1);
    const name = data.frames[node.frame];
    const bar = make("button", node.place === null ? "" : "leaf", name);
    const said = name + ": " + shown({ type: data.measures[measure].type }, node.value) + " (" + show.share(node.value / top.value) + ")";
    Object.assign(bar, { type: "button", title: said });
    bar.style.left = left + "px";
    bar.style.width = right - left + "px";
    bar.style.top = depth * 22 + "px";
    let hash = 0;
    for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 997;
    bar.style.background = node.place === null ? `hsl(${20 + hash % 35} 85% ${66 + hash % 14}%)` : `hsl(${350 + hash % 12} 80% ${70 + hash % 10}%)`;
    bar.onclick = () => {
      if (node.place !== null && zoomed === node) reveal(node.place);
      else { zoomed = node; drawFlame(); }
    };
    bar.onfocus = bar.onmouseenter = () => { byId("flame-info").textContent = said; };
    part.append(bar);
    children(node, depth + 1, left, right);
  };
  const children = (node, depth, left, right) => {
    const scale = (right - left) / node.value;
    for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
      draw(child, depth, left, left + child.value * scale);
      left += child.value * scale;
    }
  };
  if (inOut.length) {
    inOut.forEach((node, depth) => {
      if (depth < inOut.length - 1) {
        const kept = node.children;
        node.children = new Map();
        draw(node, depth, 0, width);
        node.children = kept;
      } else draw(node, depth, 0, width);
    });
  } else children(top, 0, 0, width);
  graph.replaceChildren(part);
  graph.style.height = deepest * 22 + "px";
  [...byId("measures").children].forEach((button, at) => button.setAttribute("aria-pressed", at === measure));
}
data.measures.forEach((one, at) => {
  const button = make("button", "", one.name);
  Object.assign(button, { type: "button", onclick: () => { measure = at; zoomed = null; drawFlame(); } });
  byId("measures").append(button);
});
byId("unzoom").onclick = () => { zoomed = null; drawFlame(); };

// ---- the timeline

const canvas = byId("lanes").firstChild;
const LANE = 26;
const LEFT = 190;
const lanes = data.timeline;
const span = Math.max(1, ...lanes.map((lane) => lane.last));
let from = 0;
let to = span;
let hits = [];

function drawTimeline() {
  if (!lanes.length || byId("timeline").hidden) return;
  const ratio = devicePixelRatio || 1;
  const width = byId("lanes").clientWidth;
  const height = lanes.length * LANE + 24;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  const color = (name) => getComputedStyle(root).getPropertyValue(name);
  const x = (at) => LEFT + (at - from) / (to - from) * (width - LEFT - 8);
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  hits = [];
  lanes.forEach((lane, number) => {
    const y = 22 + number * LANE;
    pen.strokeStyle = color("--line");
    pen.strokeRect(0, y - 2.5, width, 0.5);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, y, width - LEFT, LANE);
    pen.clip();
    pen.strokeStyle = color("--step");
    for (const [began, lasted, phase, waits, blocked] of lane.steps) {
      const [a, b] = [x(began + lane.first), x(began + lasted + lane.first)];
      if (b < LEFT || a > width) continue;
      pen.strokeRect(a + 0.5, y + 2.5, Math.max(b - a - 1, 0.5), LANE - 8);
      hits.push([a, b, number, `${phase} step of ${time(lasted)}: ${waits} ${waits === 1 ? "sync" : "syncs"}, ${time(blocked)} blocked`, null]);
    }
    pen.fillStyle = color("--bad");
    for (const [began, lasted, place] of lane.waits) {
      const [a, b] = [x(began + lane.first), x(began + lasted + lane.first)];
      if (b < LEFT || a > width) continue;
      pen.fillRect(a, y + 5, Math.max(b - a, 1.5), LANE - 13);
      const row = place === null ? null : rows[place];
      hits.push([a - 1, Math.max(b, a + 2) + 1, number, row ? `${row.expression || row.path} waits ${time(lasted)}` : time(lasted), place]);
    }
    pen.restore();
    pen.fillStyle = color("--ink");
    pen.fillText(lane.name, 6, y + 15, LEFT - 14);
  });
  pen.fillStyle = color("--soft");
  const unit = 10 ** Math.floor(Math.log10((to - from) / 4));
  for (let at = Math.ceil(from / unit) * unit; at <= to; at += unit * ((to - from) / unit > 12 ? 5 : 1)) {
    pen.fillText(time(at), x(at), 14);
    pen.fillRect(x(at), 17, 1, 4);
  }
}

function zoom(factor, middle = (from + to) / 2) {
  const length = Math.min(span, Math.max((to - from) * factor, 1000));
  from = Math.max(0, Math.min(span - length, middle - (middle - from) * length / (to - from)));
  to = from + length;
  drawTimeline();
}
function move(by) {
  const length = to - from;
  from = Math.max(0, Math.min(span - length, from + by));
  to = from + length;
  drawTimeline();
}
const atPointer = (event) => {
  const box = canvas.getBoundingClientRect();
  const number = Math.floor((event.clientY - box.top - 22) / LANE);
  const x = event.clientX - box.left;
  return hits.findLast(([a, b, lane]) => lane === number && a <= x && x <= b);
};
let drag = null;
canvas.onpointerdown = (event) => { drag = { x: event.clientX, moved: false }; };
canvas.onpointermove = (event) => {
  if (drag && event.buttons) {
    const by = drag.x - event.clientX;
    if (by) Object.assign(drag, { x: event.clientX, moved: drag.moved || Math.abs(by) > 2 });
    move(by * (to - from) / (canvas.clientWidth - LEFT));
  }
  byId("timeline-info").textContent = atPointer(event)?.[3] ?? "";
};
canvas.onpointerup = (event) => {
  const place = drag && !drag.moved ? atPointer(event)?.[4] : null;
  drag = null;
  if (place !== null && place !== undefined) reveal(place);
};
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = from + (event.offsetX - LEFT) / (canvas.clientWidth - LEFT - 8) * (to - from);
  zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(from, Math.min(to, at)));
}, { passive: false });
byId("lanes").onkeydown = (event) => {
  const act = {
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6), "0": () => zoom(Infinity),
    ArrowLeft: () => move((from - to) / 5), ArrowRight: () => move((to - from) / 5),
  }[event.key];
  if (act) { event.preventDefault(); act(); }
};
byId("zoom-in").onclick = () => zoom(0.5);
byId("zoom-out").onclick = () => zoom(2);
byId("zoom-all").onclick = () => zoom(Infinity);
addEventListener("resize", () => { drawTimeline(); if (!byId("flame").hidden) drawFlame(); });

// ---- start

function follow() {
  const found = /^#place-(\d+)$/.exec(location.hash);
  if (found && +found[1] < rows.length) reveal(+found[1]);
}
addEventListener("hashchange", follow);
update();
selectTab("places");
follow();
