"use strict";
(() => {
  const root = document.documentElement;
  const specifications = read("specifications");
  const twins = read("twins");
  const drawn = new Map();
  const cache = new Map();

  function read(id) {
    return JSON.parse(document.getElementById(id).textContent);
  }

  function charts(group) {
    if (!cache.has(group)) cache.set(group, read(group));
    return cache.get(group);
  }

  // Columns, as the page keeps them, become rows, as charts and tables want them.
  function rows(columns) {
    const names = Object.keys(columns);
    const length = names.length ? columns[names[0]].length : 0;
    return Array.from({ length }, (_, index) =>
      Object.fromEntries(names.map((name) => [name, columns[name][index]])),
    );
  }

  function isDark() {
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

  async function draw(element) {
    const chart = charts(element.dataset.group)[element.dataset.chart];
    const width = element.clientWidth;
    if (!width) return;
    const look = `${width} ${isDark()}`;
    if (drawn.get(element)?.look === look) return;
    drawn.get(element)?.result?.finalize();
    const entry = { look };
    drawn.set(element, entry);
    const template = structuredClone(specifications[chart.specification]);
    const specification = isDark() ? repaint(template) : template;
    widen(specification, width);
    specification.background = "transparent";
    specification.description = chart.description;
    specification.datasets = Object.fromEntries(
      Object.entries(chart.data).map(([name, columns]) => [name, rows(columns)]),
    );
    entry.result = await vegaEmbed(element, specification, {
      actions: false,
      ast: true,
      logLevel: 1, // errors only
      mode: "vega-lite",
      renderer: "svg",
      tooltip: { theme: isDark() ? "dark" : "light" },
    });
    element.style.minHeight = "";
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

  const redraw = () => visible.forEach((element) => draw(element));
  let pending;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(redraw, 150);
  });

  // Values: the table beneath a chart is made when it is opened.
  function fill(details) {
    const place = details.querySelector(".scroll");
    if (place.childElementCount) return;
    const { table, columns, data } = charts(details.dataset.group)[details.dataset.chart];
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

  // An address with an anchor opens what it names.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
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

  for (const id of ["open-all", "close-all"]) {
    document.getElementById(id)?.addEventListener("click", () => {
      for (const trial of document.querySelectorAll("details.trial")) trial.open = id === "open-all";
    });
  }
})();
