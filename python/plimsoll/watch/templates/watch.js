"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  const at = (id) => document.getElementById(id);

  // Parts of the page come as HTML, made and escaped by the server; a part that is the same stays.
  const shown = new Map();

  function put(id, html) {
    if (shown.get(id) === html) return;
    shown.set(id, html);
    const place = at(id);
    const open = [...place.querySelectorAll("details[open]")].map((one) => pathOf(one, place));
    const focused = place.contains(document.activeElement) ? pathOf(document.activeElement, place) : "";
    place.innerHTML = html;
    for (const path of open) place.querySelector(path)?.setAttribute("open", "");
    if (focused) place.querySelector(focused)?.focus({ preventScroll: true });
  }

  // Where an element is within a part: behind the nearest one with an id, place by place.
  function pathOf(element, place) {
    const steps = [];
    for (let one = element; one !== place; one = one.parentElement) {
      if (one.id) {
        steps.unshift(`#${CSS.escape(one.id)}`);
        break;
      }
      const number = [...one.parentElement.children].indexOf(one) + 1;
      steps.unshift(`${one.localName}:nth-child(${number})`);
    }
    return steps[0].startsWith("#") ? steps.join(" > ") : `:scope > ${steps.join(" > ")}`;
  }

  function text(id, words) {
    if (at(id).textContent !== words) at(id).textContent = words;
  }

  // One ranking at a time, the one that the reader chose.
  let chosen = "";

  function choose() {
    const panels = [...document.querySelectorAll("#answers .answer")];
    const panel = panels.find((one) => one.id === chosen) ?? panels[0];
    for (const one of panels) one.hidden = one !== panel;
    for (const one of document.querySelectorAll("#answers [data-of]")) one.hidden = one.dataset.of !== panel?.id;
    for (const link of document.querySelectorAll("#answers .switch a")) {
      if (link.hash === `#${panel?.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  addEventListener("click", (event) => {
    const link = event.target.closest?.("#answers .switch a");
    if (!link) return;
    event.preventDefault();
    chosen = link.hash.slice(1);
    choose();
  });

  function reveal() {
    const target = at(decodeURIComponent(location.hash.slice(1)));
    if (target?.localName === "details") target.open = true;
  }
  addEventListener("hashchange", reveal);

  // Charts are drawn once for a trial, then given their new seconds.
  let chart = null;
  let drawn = { look: "", views: [] };
  let drawing = Promise.resolve();

  function isDark() {
    if (root.dataset.theme) return root.dataset.theme === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function repaint(value, twins) {
    if (typeof value === "string") return twins[value] ?? value;
    if (Array.isArray(value)) return value.map((part) => repaint(part, twins));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, repaint(part, twins)]));
  }

  async function embed() {
    const place = at("charts");
    for (const { result } of drawn.views) result.finalize();
    const figures = chart.views.map(({ title }, number) => {
      const section = document.createElement("section");
      const heading = document.createElement("h3");
      const figure = document.createElement("div");
      heading.id = `chart-${number}`;
      heading.textContent = title;
      figure.className = "chart";
      section.append(heading, figure);
      return section;
    });
    place.replaceChildren(...figures);
    const views = await Promise.all(
      chart.views.map(async ({ specification, description }, number) => {
        const element = figures[number].lastChild;
        const painted = isDark() ? repaint(specification, chart.twins) : structuredClone(specification);
        painted.width = Math.max(80, Math.floor(element.clientWidth - painted.usermeta.outside_px));
        painted.background = "transparent";
        painted.description = description;
        painted.datasets = { seconds: [], stages: chart.stages };
        const result = await vegaEmbed(element, painted, {
          actions: false,
          ast: true,
          logLevel: 1, // errors only
          mode: "vega-lite",
          renderer: "svg",
          tooltip: { theme: isDark() ? "dark" : "light" },
        });
        element.setAttribute("role", "img");
        return { element, result };
      }),
    );
    drawn = { look: look(), views };
  }

  function look() {
    return `${chart.key} ${at("charts").clientWidth} ${isDark()}`;
  }

  async function draw() {
    if (!chart || !at("charts").clientWidth) return;
    if (drawn.look !== look()) await embed();
    for (const [number, { element, result }] of drawn.views.entries()) {
      element.setAttribute("aria-label", chart.views[number].description);
      await result.view.data("seconds", chart.seconds).runAsync();
    }
  }

  function redraw() {
    drawing = drawing.then(draw);
  }

  let pending;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(redraw, 150);
  });

  function show(snapshot) {
    document.title = snapshot.title;
    text("headline", snapshot.headline);
    for (const [id, html] of Object.entries(snapshot.parts)) put(id, html);
    choose();
    at("running").hidden = !snapshot.parts.now.trim();
    at("next").hidden = !snapshot.has_next;
    text("ranking", snapshot.ranking);
    chart = snapshot.chart;
    text("waiting", snapshot.waiting);
    at("waiting").hidden = !snapshot.waiting;
    at("charts").hidden = !chart;
    at("load").hidden = !chart && !snapshot.waiting;
    redraw();
  }

  // The browser connects again by itself; where it gave up, it is told to.
  let received = "";

  function listen() {
    const source = new EventSource("/events");
    source.addEventListener("message", (event) => {
      received = new Date().toLocaleTimeString();
      at("lost").hidden = true;
      show(JSON.parse(event.data));
    });
    source.addEventListener("open", () => {
      at("lost").hidden = true;
    });
    source.addEventListener("error", () => {
      text("lost", `The connection to plimsoll watch is lost${received ? `; this is the state of ${received}` : ""}. The page connects again when it is back.`);
      at("lost").hidden = false;
      if (source.readyState !== EventSource.CLOSED) return;
      source.close();
      setTimeout(listen, 2000);
    });
  }

  // Light, dark, or as the machine has it; the report keeps it under the same name.
  const themes = ["", "light", "dark"];
  const names = { "": "as the system", light: "light", dark: "dark" };

  function paint(theme) {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    at("theme").textContent = `Colours: ${names[theme]}`;
    redraw();
  }

  at("theme").addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "") + 1) % themes.length];
    try {
      localStorage.setItem("plimsoll-theme", next);
    } catch {
      // A browser may not allow a page to keep anything.
    }
    paint(next);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const stored = (() => {
    try {
      return localStorage.getItem("plimsoll-theme") ?? "";
    } catch {
      return "";
    }
  })();
  paint(themes.includes(stored) ? stored : "");
  choose();
  reveal();
  listen();
})();
