// Buttons and keys; begins the page.

const actions = {
  "+": () => zoomAtMiddle(1.25),
  "=": () => zoomAtMiddle(1.25),
  "-": () => zoomAtMiddle(0.8),
  "0": fit,
  o: () => setAll(true),
  c: () => setAll(false),
  t: () => {
    useTheme(isDark() ? "light" : "dark");
    drawMap();
    show();
  },
  l: () => colorBy((overlay + 2) % data.legends.length - 1),
  "/": () => query.focus(),
  Enter: () => selected && selected.graphs.length && toggle(selected),
  Escape: () => {
    if (selected) {
      select(null);
    } else {
      query.value = "";
      look();
    }
  },
  ArrowLeft: () => { view.x -= 80 / view.scale; show(); },
  ArrowRight: () => { view.x += 80 / view.scale; show(); },
  ArrowUp: () => { view.y -= 80 / view.scale; show(); },
  ArrowDown: () => { view.y += 80 / view.scale; show(); },
  PageUp: () => { view.y -= (canvas.clientHeight / view.scale) * 0.9; show(); },
  PageDown: () => { view.y += (canvas.clientHeight / view.scale) * 0.9; show(); },
  Home: () => { view.y = 0; show(); },
  End: () => { view.y = scene.height; show(); },
  n: () => step(1),
  p: () => step(-1),
};
for (const [id, key] of Object.entries({ in: "+", out: "-", fit: "0", unfold: "o", foldup: "c", theme: "t" })) {
  byId(id).addEventListener("click", actions[key]);
}

/** Colours boxes by an overlay, or by the types of operations. */
function colorBy(number) {
  if (!data.legends || data.legends.length < 2) {
    return;
  }
  overlay = number;
  chooser.value = String(number);
  showLegend();
  look();
  drawMap();
}
const chooser = byId("overlay");
chooser.addEventListener("change", () => {
  colorBy(Number(chooser.value));
  canvas.focus();
});

/** Selects the operation after or before the selected one, in program order. */
function step(by) {
  const order = scene.boxes.filter((node) => node.role !== "group");
  const now = order.indexOf(selected);
  const next = order[now < 0 ? 0 : now + by];
  if (next) {
    reveal(next);
  }
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "f") {
    // A search of the browser finds no letters of a canvas.
    event.preventDefault();
    query.focus();
    query.select();
    return;
  }
  const isTyping = event.target === query || event.target === chooser || (event.target.closest && event.target.closest("button, a, summary") && event.key === "Enter");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) {
    return;
  }
  event.preventDefault();
  actions[event.key]();
});

for (const id of ["unfold", "foldup"]) {
  byId(id).hidden = graphs.length < 2 && !nodes.some((node) => node.graphs.length > 0);
}
dark.addEventListener("change", () => {
  useTheme(dark.matches ? "dark" : "light");
  drawMap();
  show();
});
// A frame in a notebook gets its size late: until the user moves something, the page begins anew.
let isTouched = false;
for (const name of ["pointerdown", "wheel", "keydown"]) {
  addEventListener(name, () => { isTouched = true; }, { capture: true, passive: true });
}
addEventListener("resize", () => (isTouched || selected ? show() : start()));
if (overlay >= 0) {
  chooser.replaceChildren(...data.legends.map(([title], n) => make("option", title, { value: String(n - 1) })));
  byId("coloring").hidden = false;
}
useTheme(dark.matches ? "dark" : "light");
rearrange();
colorBy(overlay);
start();
followAddress();
