"use strict";
(() => {
  const svg = document.querySelector("svg");
  const heads = document.getElementById("heads");
  const tip = document.getElementById("tip");
  const query = document.getElementById("query");
  const found = document.getElementById("found");
  const whole = svg.viewBox.baseVal;
  const size = { width: whole.width, height: whole.height };
  const headsTop = Number(heads.dataset.top);
  const view = { x: 0, y: 0, scale: 1 };
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.setAttribute("preserveAspectRatio", "xMinYMin meet");

  // Names of the browser's own tooltips become ours, which show at once and at any zoom.
  const told = new Map();
  for (const title of svg.querySelectorAll("g > title")) {
    told.set(title.parentNode, title.textContent);
    title.parentNode.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const boxes = [...svg.querySelectorAll(".box")];
  for (const box of boxes) {
    box.setAttribute("tabindex", "0");
    box.setAttribute("role", "img");
  }

  // Arrows by the boxes that they join.
  const joined = new Map();
  for (const arrow of svg.querySelectorAll(".arrow[data-ends]")) {
    for (const end of arrow.dataset.ends.split(" ")) {
      joined.set(end, [...(joined.get(end) || []), arrow]);
    }
  }
  let shining = [];
  function shine(group) {
    for (const arrow of shining) {
      arrow.classList.remove("hot");
    }
    shining = (group && joined.get(group.dataset.at)) || [];
    for (const arrow of shining) {
      arrow.classList.add("hot");
    }
  }

  function show() {
    const width = svg.clientWidth / view.scale;
    const height = svg.clientHeight / view.scale;
    const x = Math.min(Math.max(view.x, -width / 2), size.width - width / 2);
    const y = Math.min(Math.max(view.y, -height / 2), size.height - height / 2);
    view.x = x;
    view.y = y;
    svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    tip.style.display = "none";
    // The heads of lanes stay in sight.
    heads.setAttribute("transform", `translate(0 ${Math.max(0, y - headsTop)})`);
  }

  function zoom(factor, clientX, clientY) {
    const scale = Math.min(6, Math.max(0.02, view.scale * factor));
    view.x += clientX / view.scale - clientX / scale;
    view.y += clientY / view.scale - clientY / scale;
    view.scale = scale;
    show();
  }

  function zoomAtMiddle(factor) {
    zoom(factor, svg.clientWidth / 2, svg.clientHeight / 2);
  }

  function fit() {
    view.scale = Math.min(svg.clientWidth / size.width, svg.clientHeight / size.height, 1.5);
    view.x = (size.width - svg.clientWidth / view.scale) / 2;
    view.y = 0;
    show();
  }

  function start() {
    view.scale = Math.min(1.25, Math.max(0.5, svg.clientWidth / size.width));
    view.x = Math.min(0, (size.width - svg.clientWidth / view.scale) / 2);
    view.y = 0;
    show();
  }

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      zoom(Math.exp(-event.deltaY * 0.01), event.clientX, event.clientY);
    } else {
      view.x += (event.shiftKey ? event.deltaY : event.deltaX) / view.scale;
      view.y += (event.shiftKey ? 0 : event.deltaY) / view.scale;
      show();
    }
  }, { passive: false });

  const pointers = new Map();
  let spread = 0;
  svg.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    svg.setPointerCapture(event.pointerId);
    svg.classList.add("dragging");
    spread = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      return;
    }
    pointers.set(event.pointerId, event);
    if (pointers.size === 1) {
      view.x -= (event.clientX - before.clientX) / view.scale;
      view.y -= (event.clientY - before.clientY) / view.scale;
      show();
    } else {
      const [a, b] = [...pointers.values()];
      const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (spread > 0) {
        zoom(now / spread, (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
      }
      spread = now;
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    svg.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      spread = 0;
      if (pointers.size === 0) {
        svg.classList.remove("dragging");
      }
    });
  }

  function tell(target, x, y) {
    const group = target && target.closest && target.closest(".box, .arrow");
    const text = group && told.get(group);
    shine(group);
    tip.style.display = text ? "block" : "none";
    if (text) {
      tip.textContent = text;
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 8))}px`;
    }
  }
  svg.addEventListener("mousemove", (event) => tell(event.buttons ? null : event.target, event.clientX, event.clientY));
  svg.addEventListener("mouseleave", () => tell(null, 0, 0));
  svg.addEventListener("focusin", (event) => {
    const place = event.target.getBoundingClientRect();
    if (event.target.matches(":focus-visible")) {
      tell(event.target, place.left, place.bottom);
    }
  });

  let hits = [];
  let at = -1;
  function look() {
    const words = query.value.trim().toLowerCase();
    const all = (box) => `${told.get(box)} ${box.dataset.also || ""}`.toLowerCase();
    hits = words ? boxes.filter((box) => all(box).includes(words)) : [];
    const kept = new Set(hits);
    for (const box of boxes) {
      box.classList.toggle("dim", words !== "" && !kept.has(box));
    }
    at = -1;
    found.textContent = words ? `${hits.length} found` : "";
  }
  query.addEventListener("input", look);
  query.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || hits.length === 0) {
      return;
    }
    at = (at + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
    const place = hits[at].getBBox();
    view.scale = Math.max(view.scale, 0.8);
    view.x = place.x + place.width / 2 - svg.clientWidth / view.scale / 2;
    view.y = place.y + place.height / 2 - svg.clientHeight / view.scale / 2;
    found.textContent = `${at + 1} of ${hits.length}`;
    show();
  });

  document.getElementById("in").addEventListener("click", () => zoomAtMiddle(1.25));
  document.getElementById("out").addEventListener("click", () => zoomAtMiddle(0.8));
  document.getElementById("fit").addEventListener("click", fit);
  document.addEventListener("keydown", (event) => {
    if (event.target === query || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const step = 80 / view.scale;
    const actions = {
      "+": () => zoomAtMiddle(1.25),
      "=": () => zoomAtMiddle(1.25),
      "-": () => zoomAtMiddle(0.8),
      "0": fit,
      ArrowLeft: () => { view.x -= step; show(); },
      ArrowRight: () => { view.x += step; show(); },
      ArrowUp: () => { view.y -= step; show(); },
      ArrowDown: () => { view.y += step; show(); },
      PageUp: () => { view.y -= svg.clientHeight / view.scale * 0.9; show(); },
      PageDown: () => { view.y += svg.clientHeight / view.scale * 0.9; show(); },
      Home: () => { view.y = 0; show(); },
      End: () => { view.y = size.height; show(); },
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });
  addEventListener("resize", show);
  start();
})();
