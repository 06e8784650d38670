"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  const specifications = read("specifications");
  const chartTables = read("chart-tables");
  const twins = read("twins");
  const drawn = new Map();
  const cache = new Map();

  function read(id) {
    return JSON.parse(document.getElementById(id).textContent);
  }

  function charts(group) {
    if (!cache.has(group)) cache.set(group, whole(read(group)));
    return cache.get(group);
  }

  // Data sets and columns that several charts of a group have are kept once: the others name it.
  function whole(group) {
    for (const { data } of Object.values(group)) {
      for (const [name, columns] of Object.entries(data)) {
        if (typeof columns === "string") {
          data[name] = group[columns].data[name];
          continue;
        }
        for (const [column, values] of Object.entries(columns)) {
          if (typeof values === "string") columns[column] = group[values].data[name][column];
        }
      }
    }
    return group;
  }

  // Columns, as the page keeps them, become rows, as charts and tables want them.
  function rows(columns) {
    const names = Object.keys(columns);
    const length = names.length ? columns[names[0]].length : 0;
    return Array.from({ length }, (_, index) =>
      Object.fromEntries(names.map((name) => [name, columns[name][index]])),
    );
  }

  // While a page is printed its charts are drawn for paper.
  function isPaper() {
    return root.classList.contains("is-paper");
  }

  function isDark() {
    if (isPaper()) return false;
    if (root.dataset.theme) return root.dataset.theme === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function repaint(value) {
    if (typeof value === "string") return twins[value] ?? value;
    if (Array.isArray(value)) return value.map(repaint);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, repaint(part)]));
  }

  function widen(specification, width) {
    const outside = specification.usermeta?.outside_px;
    const plot = Math.max(80, Math.floor(width - outside));
    for (const view of specification.vconcat ?? [specification]) view.width = plot;
  }

  // A page of paper is this high: a chart of many rows has them closer together there, as far as names have room.
  const PAGE_PX = 860;
  const CLOSEST = 2 / 3;

  function lower(specification) {
    for (const view of specification.vconcat ?? [specification]) {
      view.height = Math.min(view.height, Math.max(PAGE_PX, view.height * CLOSEST));
    }
  }

  // The frameworks that a reader has chosen for a chart; null where there is no choice.
  function choice(element) {
    const boxes = element.closest(".answer")?.querySelectorAll(".choices input");
    if (!boxes?.length) return null;
    return [...boxes].filter((box) => box.checked).map((box) => box.value);
  }

  function chosen(values, names) {
    return names ? values.filter((value) => names.includes(value.framework)) : values;
  }

  // Frameworks that the reader has hidden, everywhere in the page.
  const hidden = new Set();

  // A specification and its data without them; their names leave the axes as well.
  function withoutHidden(specification) {
    if (!hidden.size) return;
    const sets = Object.values(specification.datasets);
    const gone = new Set(hidden);
    for (const row of sets.flat()) if (hidden.has(row.framework) && row.label) gone.add(row.label);
    for (const name of Object.keys(specification.datasets)) {
      specification.datasets[name] = specification.datasets[name].filter(
        (row) => !gone.has(row.framework) && !gone.has(row.label),
      );
    }
    const { datasets, ...views } = specification;
    prune(views, gone);
  }

  function prune(value, gone) {
    if (value === null || typeof value !== "object") return;
    const { domain, range } = value;
    if (Array.isArray(domain) && domain.some((name) => gone.has(name))) {
      if (Array.isArray(range)) value.range = range.filter((_, place) => !gone.has(domain[place]));
      value.domain = domain.filter((name) => !gone.has(name));
    }
    for (const part of Object.values(value)) prune(part, gone);
  }

  // Charts over the seconds of a trial: they show the same seconds, and one cursor goes through all.
  const zooms = new Map();

  function trialOf(element) {
    return element.closest("details.trial");
  }

  function isOverTime(element) {
    return trialOf(element) !== null && "stages" in charts(element.dataset.group)[element.dataset.chart].data;
  }

  function zoomIn(specification, [from, to]) {
    for (const [name, values] of Object.entries(specification.datasets)) {
      specification.datasets[name] = values
        .map((row) => ("start_s" in row ? { ...row, start_s: Math.max(row.start_s, from), end_s: Math.min(row.end_s, to) } : row))
        .filter((row) => ("start_s" in row ? row.start_s < row.end_s : !("second" in row) || (row.second >= from && row.second < to)));
    }
    const { datasets, ...views } = specification;
    limitTime(views, [from, to]);
  }

  function limitTime(value, domain) {
    if (value === null || typeof value !== "object") return;
    if (["start_s", "second", "middle"].includes(value.x?.field)) value.x.scale = { ...value.x.scale, domain };
    for (const part of Object.values(value)) limitTime(part, domain);
  }

  async function draw(element) {
    const chart = charts(element.dataset.group)[element.dataset.chart];
    const width = element.clientWidth;
    if (!width) return;
    const shown = choice(element);
    const zoom = isOverTime(element) ? zooms.get(trialOf(element)) : undefined;
    const look = `${width} ${isDark()} ${isPaper()} ${shown ?? ""} ${zoom ?? ""} ${[...hidden]}`;
    if (drawn.get(element)?.look === look) return;
    drawn.get(element)?.result?.finalize();
    const entry = { look };
    drawn.set(element, entry);
    const template = structuredClone(specifications[chart.specification]);
    const specification = isDark() ? repaint(template) : template;
    widen(specification, width);
    if (isPaper()) lower(specification);
    specification.background = "transparent";
    const description = element.getAttribute("aria-label");
    specification.description = description;
    specification.datasets = Object.fromEntries(
      Object.entries(chart.data).map(([name, columns]) => [name, chosen(rows(columns), shown)]),
    );
    withoutHidden(specification);
    if (zoom) zoomIn(specification, zoom);
    entry.result = await vegaEmbed(element, specification, {
      actions: false,
      ast: true,
      logLevel: 1, // errors only
      mode: "vega-lite",
      renderer: "svg",
      tooltip: { theme: isDark() ? "dark" : "light" },
    });
    element.style.minHeight = "";
    element.classList.toggle("is-dark", isDark());
    element.setAttribute("aria-label", description);
    element.setAttribute("role", "img");
  }

  // Where the seconds of a chart are on the screen; null for one that is not drawn.
  function axisOf(element) {
    const view = drawn.get(element)?.result?.view;
    if (!view) return null;
    const scale = view.scale("x");
    const left = view.origin()[0];
    return {
      second: (event) => scale.invert(event.clientX - element.getBoundingClientRect().left - left),
      place: (second) => left + scale(second),
      holds: (second) => second >= scale.domain()[0] && second <= scale.domain()[1],
    };
  }

  function mark(element, name, from, to) {
    const axis = axisOf(element);
    const one = element.querySelector(`:scope > .${name}`) ?? element.appendChild(document.createElement("div"));
    one.className = name;
    one.hidden = from === null || !axis?.holds(from);
    if (one.hidden) return;
    one.style.left = `${axis.place(from)}px`;
    one.style.width = to === undefined ? "" : `${axis.place(to) - axis.place(from)}px`;
  }

  function overTime(trial) {
    return [...trial.querySelectorAll(".chart")].filter((one) => drawn.get(one)?.result && isOverTime(one));
  }

  // From which second to which one; null for all of them.
  function showSeconds(trial, range) {
    if (range) zooms.set(trial, range);
    else zooms.delete(trial);
    const [from, to] = trial.querySelectorAll(".seconds input");
    [from.value, to.value] = range ?? [from.min, to.max];
    trial.querySelector(".seconds button").disabled = !range;
    for (const element of visible) draw(element);
  }

  for (const form of document.querySelectorAll(".seconds")) {
    const trial = trialOf(form);
    const { last } = form.dataset;
    const field = (value) => `<input type="number" min="0" max="${last}" value="${value}">`;
    form.role = "group";
    form.ariaLabel = "Seconds that the charts show";
    form.innerHTML =
      `<label>Seconds ${field(0)}</label> <label>to ${field(last)}</label> ` +
      '<button type="button" disabled>Show all</button> <span class="muted">or drag over a chart</span>';
    const [from, to] = form.querySelectorAll("input");
    const within = (value) => Math.min(Math.max(Number(value), Number(from.min)), Number(to.max));
    form.addEventListener("change", () => {
      const [first, last] = [within(from.value), within(to.value)];
      if (first < last) showSeconds(trial, [first, last]);
    });
    form.querySelector("button").addEventListener("click", () => showSeconds(trial, null));
    trial.addEventListener("pointerleave", () => overTime(trial).forEach((one) => mark(one, "time-cursor", null)));
    let begun = null;
    trial.addEventListener("pointermove", (event) => {
      const element = event.target.closest(".chart");
      const axis = element && isOverTime(element) ? axisOf(element) : null;
      const second = axis?.second(event) ?? null;
      for (const one of overTime(trial)) mark(one, "time-cursor", second);
      if (begun && second !== null) {
        const range = [begun.second, second].sort((one, other) => one - other);
        for (const one of overTime(trial)) mark(one, "time-range", ...range);
      }
    });
    trial.addEventListener("pointerdown", (event) => {
      const element = event.target.closest(".chart");
      const axis = element && isOverTime(element) ? axisOf(element) : null;
      if (!axis || event.button || event.pointerType === "touch") return;
      event.preventDefault(); // no text is selected
      begun = { second: within(axis.second(event)), x: event.clientX };
    });
    addEventListener("pointerup", (event) => {
      if (!begun) return;
      const { second, x } = begun;
      begun = null;
      for (const one of overTime(trial)) mark(one, "time-range", null);
      const axis = overTime(trial).map(axisOf)[0];
      if (!axis || Math.abs(event.clientX - x) < 6) return;
      const [first, last] = [second, within(axis.second(event))].sort((one, other) => one - other);
      showSeconds(trial, [Math.floor(first), Math.max(Math.ceil(last), Math.floor(first) + 1)]);
    });
    trial.addEventListener("dblclick", (event) => event.target.closest(".chart") && showSeconds(trial, null));
  }

  const visible = new Set();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) {
          visible.add(target);
          draw(target);
        } else visible.delete(target);
      }
    },
    { rootMargin: "400px" },
  );
  for (const element of document.querySelectorAll(".chart")) watcher.observe(element);

  // The charts below are drawn one by one when the browser has nothing else to do: a picture of the whole page has them.
  const whenIdle = window.requestIdleCallback ?? ((callback) => setTimeout(callback, 200));
  const rest = [...document.querySelectorAll(".chart")];
  async function drawNext() {
    const next = rest.findIndex((one) => one.clientWidth && !drawn.has(one) && !one.closest("details:not([open])"));
    if (next < 0) return;
    const [element] = rest.splice(0, next + 1).slice(-1);
    await draw(element);
    whenIdle(drawNext);
  }
  if (document.readyState === "complete") whenIdle(drawNext);
  else addEventListener("load", () => whenIdle(drawNext), { once: true });

  const redraw = () => visible.forEach((element) => draw(element));
  let pending;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(redraw, 150);
  });

  // Paper has every endpoint, so what the screen has not shown yet is drawn for it, as wide as it is there.
  addEventListener("beforeprint", () => {
    root.classList.add("is-paper");
    const folded = panels.filter((one) => one.hidden);
    for (const one of folded) one.hidden = false;
    for (const element of document.querySelectorAll(".chart")) {
      if (!element.closest("details:not([open])")) draw(element);
    }
    for (const one of folded) one.hidden = true;
  });
  addEventListener("afterprint", () => {
    root.classList.remove("is-paper");
    redraw();
  });

  // Values: the table beneath a chart is made when it is opened.
  function fill(details) {
    const place = details.querySelector(".scroll");
    if (place.childElementCount) return;
    const { table, columns } = chartTables[details.dataset.chart];
    const { data } = charts(details.dataset.group)[details.dataset.chart];
    place.append(tabled(columns, rows(data[table])));
    details.querySelector("button").addEventListener("click", () => save(details, columns, rows(data[table])));
  }

  function tabled(columns, values) {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const heading of Object.values(columns)) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.className = "n";
      cell.textContent = heading;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const value of values) {
      const row = body.insertRow();
      for (const name of Object.keys(columns)) {
        const cell = row.insertCell();
        cell.className = "n";
        cell.textContent = written(value[name]);
      }
    }
    return table;
  }

  function written(value) {
    if (value === null || value === undefined) return "–";
    return typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 6 }) : String(value);
  }

  function save(details, columns, values) {
    const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
    const lines = [Object.values(columns), ...values.map((value) => Object.keys(columns).map((name) => value[name]))];
    const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = `${details.dataset.group}.${details.dataset.chart}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  for (const details of document.querySelectorAll("details.values")) {
    details.addEventListener("toggle", () => details.open && fill(details));
  }

  // The fragment holds the state: `#anchor&sort=TABLE.COLUMN.up&filter=TEXT&hide=NAME&show=NAME&show=NAME`.
  // `sort`, `hide` and `show` may be there several times. An anchor opens what it names.
  const state = {
    read() {
      const parts = location.hash.slice(1).split("&");
      const anchor = parts[0].includes("=") ? "" : decoded(parts.shift());
      return { anchor, settings: new URLSearchParams(parts.join("&")) };
    },
    write(anchor, settings) {
      const text = [anchor, settings.toString()].filter(Boolean).join("&");
      history.replaceState(null, "", `#${text}`);
    },
    set(name, ...values) {
      const { anchor, settings } = state.read();
      settings.delete(name);
      for (const value of values) if (value) settings.append(name, value);
      state.write(anchor, settings);
    },
  };

  // A text whose percent signs encode nothing stays as it is.
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  const panels = [...document.querySelectorAll(".answer")];
  const links = [...document.querySelectorAll(".switch a")];

  function choose(panel) {
    for (const one of panels) one.hidden = one !== panel;
    for (const link of links) {
      if (link.hash === `#${panel.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  for (const link of links) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { settings } = state.read();
      state.write(link.hash.slice(1), settings);
      choose(document.getElementById(link.hash.slice(1)));
    });
  }

  function reveal() {
    const { anchor, settings } = state.read();
    const target = document.getElementById(anchor);
    const panel = panels.find((one) => target && one.contains(target));
    if (panels.length) choose(panel ?? panels.find((one) => !one.hidden) ?? panels[0]);
    restore(settings.getAll("sort"));
    find(settings.get("filter") ?? "", settings.getAll("hide"));
    if (!target || panel) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    target.scrollIntoView();
  }

  // Which frameworks are laid over each other; the same ones for every endpoint.
  const choices = [...document.querySelectorAll(".choices")];

  function layOver() {
    const named = state.read().settings.getAll("show");
    for (const group of choices) {
      const most = Number(group.dataset.most);
      const boxes = [...group.querySelectorAll("input")];
      const free = boxes.filter((box) => !hidden.has(box.value));
      const asMade = boxes.filter((box) => box.defaultChecked);
      const asked = boxes.filter((box) => named.includes(box.value));
      const wanted = (asked.length ? asked : asMade).filter((box) => free.includes(box));
      // Where all of them are hidden, the first of the others take their place.
      const shown = wanted.length ? wanted.slice(0, most) : free.slice(0, asMade.length);
      for (const box of boxes) {
        box.checked = shown.includes(box);
        box.disabled = box.checked ? shown.length === 1 : shown.length >= most;
        box.closest("label").hidden = !free.includes(box);
      }
    }
    redraw();
  }

  for (const group of choices) {
    group.addEventListener("change", () => {
      const names = [...group.querySelectorAll("input:checked")].map((box) => box.value);
      state.set("show", ...names);
      layOver();
    });
  }

  // A click on a heading sorts its table: down, up, and as it was. Small screens have a list instead of headings.
  // An interval, `1.2–1.4 mJ`, is sorted by its lower end.
  const UNITS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, "µJ": 1e-6, mJ: 1e-3, J: 1 };
  const NUMBER = /^(?:×\s*)?([-−+]?[\d,]*\.?\d+)(?:–[\d,]*\.?\d+)?\s*([nµm]?s\b|min\b|[kMGT]?B\b|[µm]?J\b)?/u;
  const sortable = [...document.querySelectorAll("table")].filter((table) => table.tHead && !table.closest(".values"));

  function key(row, column) {
    const text = (row.cells[column]?.innerText ?? "").trim();
    const found = NUMBER.exec(text);
    return found ? Number(found[1].replaceAll(",", "").replace("−", "-")) * (UNITS[found[2]] ?? 1) : text;
  }

  function isAbsent(value) {
    return value === "" || value === "–";
  }

  function compare(one, other, way) {
    if (isAbsent(one) || isAbsent(other)) return isAbsent(one) - isAbsent(other);
    if (typeof one === "number" && typeof other === "number") return way * (one - other);
    return way * String(one).localeCompare(String(other));
  }

  // Rows that explain the one above them go with it.
  function groups(body) {
    const found = [];
    for (const row of body.rows) {
      if (row.classList.contains("why") && found.length) found.at(-1).push(row);
      else found.push([row]);
    }
    return found;
  }

  const asMade = new Map(sortable.map((table) => [table, [...(table.tBodies[0]?.rows ?? [])]]));
  const lists = new Map();
  const sorted = new Map(); // a table to `COLUMN.up` or `COLUMN.down`

  function sort(table, column, way) {
    const body = table.tBodies[0];
    const headings = [...table.tHead.rows[0].cells];
    body.append(...asMade.get(table));
    if (way) sorted.set(table, `${column}.${way > 0 ? "up" : "down"}`);
    else sorted.delete(table);
    if (lists.has(table)) lists.get(table).value = sorted.get(table) ?? "";
    headings.forEach((cell, place) => {
      if (place === column && way) cell.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    if (!way) return;
    // A heading of several columns, as that of bars and their numbers, sorts by the last of them.
    const last = headings.slice(0, column + 1).reduce((columns, cell) => columns + cell.colSpan, -1);
    const keyed = groups(body).map((rows) => ({ rows, key: key(rows[0], last) }));
    keyed.sort((one, other) => compare(one.key, other.key, way));
    body.append(...keyed.flatMap(({ rows }) => rows));
  }

  function restore(texts) {
    const asked = new Map(texts.map((text) => [text.split(".", 1)[0], text.split(".")]));
    sortable.forEach((table, number) => {
      const [, column, way] = asked.get(String(number)) ?? [];
      const isThere = table.tHead.rows[0].cells[Number(column)] !== undefined;
      if (isThere) sort(table, Number(column), way === "up" ? 1 : -1);
      else if (sorted.has(table)) sort(table, 0, 0);
    });
  }

  function sortAndKeep(table, column, way) {
    sort(table, column, way);
    state.set("sort", ...sortable.map((one, number) => sorted.has(one) && `${number}.${sorted.get(one)}`));
  }

  const NEXT = { none: "descending", descending: "ascending", ascending: "none" };
  const WAYS = { none: 0, descending: -1, ascending: 1 };
  for (const table of sortable) {
    const list = document.createElement("select");
    list.add(new Option("as listed", ""));
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const heading = cell.textContent.trim();
      if (!heading) return;
      list.add(new Option(`${heading} ↓`, `${column}.down`));
      list.add(new Option(`${heading} ↑`, `${column}.up`));
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      // A button may not hold a link: where the heading is one, the button stands behind it.
      if (cell.querySelector("a")) button.ariaLabel = `sort by ${heading}`;
      else button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        sortAndKeep(table, column, WAYS[NEXT[cell.getAttribute("aria-sort") ?? "none"]]);
      });
    });
    if (!table.matches(".bars, .cards") || (table.tBodies[0]?.rows.length ?? 0) < 2) continue;
    list.addEventListener("change", () => {
      const [column, way] = list.value.split(".");
      sortAndKeep(table, Number(column), { up: 1, down: -1 }[way] ?? 0);
    });
    const label = document.createElement("label");
    label.className = "sorter";
    label.append("Sort by ", list);
    if (table.matches(".bars")) table.after(label); // the first screen begins with its rows
    else table.before(label);
    lists.set(table, list);
  }

  // Rows that hold every word of the filter and whose framework is not hidden; trials are rows too.
  const finder = document.getElementById("finder");
  const filter = document.getElementById("filter");
  const boxes = [...finder.querySelectorAll("input[type=checkbox]")];
  const entries = new Set(boxes.map((box) => box.value));

  function entryOf(row) {
    const name = row.dataset.entry ?? row.querySelector("th a, th")?.textContent.trim();
    return entries.has(name) ? name : null;
  }

  // What is told of each framework in a section beyond its rows; gathered once, as a page may have many thousand rows.
  const told = new Map();
  for (const one of document.querySelectorAll("details[data-of]")) {
    for (let section = one.closest("section"); section; section = section.parentElement.closest("section")) {
      const of = told.get(section) ?? told.set(section, new Map()).get(section);
      of.set(one.dataset.of, [...(of.get(one.dataset.of) ?? []), one]);
    }
  }

  // A row, those that explain it, and what else is told of its framework: they stay and go together.
  function found() {
    const trials = [...document.querySelectorAll("details.trial")];
    const tables = sortable.filter((table) => table.tBodies[0] && !trialOf(table));
    return [
      ...tables.flatMap((table) => groups(table.tBodies[0]).map((rows) => {
        const entry = entryOf(rows[0]);
        return {
          elements: [...rows, ...(told.get(table.closest("section"))?.get(entry) ?? [])],
          entry,
          text: rows.map((row) => row.textContent).join(" ").toLowerCase(),
        };
      })),
      ...trials.map((trial) => ({
        elements: [trial],
        entry: entryOf(trial),
        text: trial.querySelector("summary").textContent.toLowerCase(),
      })),
    ];
  }

  const rowsToFind = found();

  function find(text, names) {
    hidden.clear();
    for (const name of names) if (entries.has(name)) hidden.add(name);
    for (const box of boxes) box.checked = !hidden.has(box.value);
    if (filter.value.trim() !== text) filter.value = text;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { elements, entry, text: content } of rowsToFind) {
      const isShown = !hidden.has(entry) && words.every((word) => content.includes(word));
      count += isShown;
      for (const element of elements) element.hidden = !isShown;
    }
    const isActive = words.length > 0 || hidden.size > 0;
    finder.classList.toggle("is-active", isActive);
    document.getElementById("show-all").hidden = !isActive;
    document.getElementById("shown").textContent = isActive
      ? `${count} of ${rowsToFind.length} rows and trials shown; ranks and ratios are those of all.`
      : "";
    layOver();
  }

  function asked() {
    const names = boxes.filter((box) => !box.checked).map((box) => box.value);
    const text = filter.value.trim();
    state.set("filter", text);
    state.set("hide", ...names);
    find(text, names);
  }

  filter.addEventListener("input", asked);
  for (const box of boxes) box.addEventListener("change", asked);
  document.getElementById("show-all").addEventListener("click", () => {
    filter.value = "";
    for (const box of boxes) box.checked = true;
    asked();
    filter.focus();
  });

  // A link within the page keeps what the reader has set; what hides the place it leads to, it takes away.
  let kept = null;
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const isHere = !event.defaultPrevented && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isHere || link.hash === location.hash) return;
    kept = state.read().settings;
    const target = document.getElementById(decoded(link.hash.slice(1)));
    const over = rowsToFind.find(({ elements }) => elements.some((one) => one.hidden && one.contains(target)));
    if (!over) return;
    const others = kept.getAll("hide").filter((name) => name !== over.entry);
    kept.delete("hide");
    for (const name of others) kept.append("hide", name);
    kept.delete("filter");
  });

  addEventListener("hashchange", () => {
    if (kept) state.write(state.read().anchor, kept);
    kept = null;
    reveal();
  });
  reveal();

  // Light, dark, or as the machine has it.
  const themes = ["", "light", "dark"];
  const names = { "": "as the system", light: "light", dark: "dark" };
  const button = document.getElementById("theme");
  const stored = (() => {
    try {
      return localStorage.getItem("plimsoll-theme") ?? "";
    } catch {
      return "";
    }
  })();

  function show(theme) {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    button.textContent = `Colours: ${names[theme]}`;
    redraw();
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "") + 1) % themes.length];
    try {
      localStorage.setItem("plimsoll-theme", next);
    } catch {
      // A page from disk may not be allowed to keep anything.
    }
    show(next);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  show(themes.includes(stored) ? stored : "");

  // A page from disk may have no clipboard; then the text is selected and copied the old way.
  async function copied(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(element);
      return document.execCommand("copy");
    }
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const done = await copied(document.getElementById(button.dataset.copy));
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    });
  }

  for (const id of ["open-all", "close-all"]) {
    document.getElementById(id)?.addEventListener("click", () => {
      for (const trial of document.querySelectorAll("details.trial")) trial.open = id === "open-all";
    });
  }
})();
