// What the page knows: the program, what is seen of it, colours.

const byId = (id) => document.getElementById(id);
const canvas = byId("drawing");
const context = canvas.getContext("2d");
const tip = byId("tip");
const data = JSON.parse(byId("scene").textContent);
const { styles, sizes } = data;
let read = null;
const tables = () => (read ??= JSON.parse(byId("tables").textContent) || { items: [], values: [], types: [], definitions: {}, weights: [] });
const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const SMALL = styles.sub.size;
const view = { x: 0, y: 0, scale: 1 };
let selected = null;
let hovered = null;
let hits = new Set();
let isScheduled = false;
let isFirst = true;
// What boxes are coloured by: the number of an overlay, or -1 for the types of operations.
let overlay = (data.legends || []).length > 1 ? 0 : -1;

// -- what is drawn: graphs that fold, or shapes

const nodes = [];
const graphs = (data.graphs || []).map((graph, n) => readGraph(graph, null, String(n), nodes));
const byItem = new Map();
for (const node of nodes) {
  if (node.item >= 0) {
    byItem.set(node.item, node);
  }
}
let scene = null;

function shapeScene() {
  const result = { shapes: data.shapes, heads: data.heads, boxes: [], width: data.width, height: data.height };
  for (const [kind, role, text, parts, at, ends, also] of data.shapes) {
    const frame = kind === "group" && role === "box" ? parts.find(([part]) => part === "box") : null;
    if (frame) {
      const [, , X, Y, width, height] = frame;
      result.boxes.push({ X, Y, width, height, at, text, also, role: "step", item: -1, graphs: [], highlights: [] });
    }
  }
  return result;
}

function rearrange() {
  scene = data.graphs ? arrange(graphs, sizes) : scene || shapeScene();
  drawMap();
}

// -- colours

const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark";
};
const dark = matchMedia("(prefers-color-scheme: dark)");
function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  colorLegend();
}
function colorLegend() {
  for (const sample of document.querySelectorAll("#legend i")) {
    const { fill, stroke, dash, width } = styles[sample.dataset.style];
    sample.style.background = fill ? color(fill) : "none";
    sample.style.border = stroke ? `${Math.min(width || 1, 2)}px ${dash ? "dashed" : "solid"} ${color(stroke)}` : "none";
  }
}
/** Lists what the colours mean, and lets the user choose what they show. */
function showLegend() {
  if (!data.legends) {
    return;
  }
  const entries = data.legends[overlay + 1][2].map(([style, label]) => {
    const sample = document.createElement("i");
    sample.dataset.style = style;
    return make("li", [sample, label]);
  });
  byId("shown").textContent = data.legends[overlay + 1][1];
  byId("legend").replaceChildren(...entries);
  colorLegend();
}
/** Returns the style of the head of a box; null for a box without one. */
function headOf(node) {
  const isOp = node.role === "op";
  if (overlay < 0) {
    return isOp ? `is-${node.family}` : null;
  }
  const highlight = node.highlights[overlay];
  return highlight ? highlight[0] : isOp ? "scale-none" : null;
}
const color = (pair) => pair[isDark() ? 1 : 0];
const accent = () => (isDark() ? "#ffb454" : "#c04a00");
