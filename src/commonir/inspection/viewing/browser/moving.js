// Moves and zooms, and finds the box at a place of the window.

/** The middle of what the title and the panel leave of the window. */
function middle() {
  const right = canvas.clientWidth - (byId("panel").hidden ? 0 : byId("panel").offsetWidth + 12);
  const left = byId("side").getBoundingClientRect().right;
  return right - left > 250 ? (left + right) / 2 : right / 2;
}

function centre(x, y) {
  view.x = x - middle() / view.scale;
  view.y = y - canvas.clientHeight / view.scale / 2;
  show();
}

function zoom(factor, clientX, clientY) {
  const scale = Math.min(6, Math.max(0.005, view.scale * factor));
  view.x += clientX / view.scale - clientX / scale;
  view.y += clientY / view.scale - clientY / scale;
  view.scale = scale;
  show();
}
const zoomAtMiddle = (factor) => zoom(factor, canvas.clientWidth / 2, canvas.clientHeight / 2);

function fit() {
  view.scale = Math.min(canvas.clientWidth / scene.width, canvas.clientHeight / scene.height, 1.5);
  view.x = (scene.width - canvas.clientWidth / view.scale) / 2;
  view.y = (scene.height - canvas.clientHeight / view.scale) / 2;
  show();
}

/** Shows the beginning at a size at which it can be read. */
function start() {
  const side = byId("side").getBoundingClientRect();
  view.scale = Math.min(1.1, Math.max(0.55, (canvas.clientWidth - side.right - 24) / scene.width));
  if (graphs.length === 2 && graphs.every((graph) => graph.isOpen)) {
    // Two programs are both seen, as long as their names can be read.
    view.scale = Math.min(view.scale, Math.max(0.36, (canvas.clientWidth - 24) / scene.width));
  }
  const room = canvas.clientWidth / view.scale;
  const left = (side.right + 12) / view.scale;
  const first = scene.boxes.find((node) => node.role === "input") || scene.boxes[0] || scene.backs[0];
  // In the middle, else to the right of the title, else below it.
  view.x = (scene.width - room) / 2;
  view.y = -12 / view.scale;
  if (-view.x < left) {
    view.x = -left;
    if (left + scene.width > room) {
      const nearest = graphs.length === 2 ? -12 / view.scale : first.X + first.width / 2 - room / 2;
      view.x = scene.width <= room ? (scene.width - room) / 2 : nearest;
      view.y = -(side.bottom + 12) / view.scale;
    }
  }
  show();
}

canvas.addEventListener("wheel", (event) => {
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
let travelled = 0;
canvas.addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, event);
  canvas.setPointerCapture(event.pointerId);
  spread = travelled = 0;
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) {
    point(event);
    return;
  }
  pointers.set(event.pointerId, event);
  travelled += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
  canvas.classList.toggle("dragging", travelled > 4);
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
  canvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    spread = 0;
    canvas.classList.remove("dragging");
    if (name === "pointerup" && travelled <= 4) {
      press(boxAt(event.clientX, event.clientY), event);
    }
  });
}

/** Returns the innermost box at a place of the window. */
function boxAt(clientX, clientY) {
  const x = clientX / view.scale + view.x;
  const y = clientY / view.scale + view.y;
  let found = null;
  for (const node of scene.boxes) {
    if (x >= node.X && x <= node.X + node.width && y >= node.Y && y <= node.Y + node.height) {
      found = node;
    }
  }
  return found;
}

/** Returns the frame of a function whose title is at a place of the window. */
function frameAt(clientX, clientY) {
  const x = clientX / view.scale + view.x;
  const y = clientY / view.scale + view.y;
  const isAt = ({ X, Y, width, graph }) => graph && !graph.parent && x >= X && x <= X + width && y >= Y && y <= Y + sizes.TITLE;
  return (scene.backs || []).find(isAt);
}

function toggleFrame({ graph, X, Y }) {
  graph.isOpen = !graph.isOpen;
  rearrange();
  const moved = scene.backs.find((back) => back.graph === graph);
  view.x += moved.X - X;
  view.y += moved.Y - Y;
  if (selected && !isVisible(selected)) {
    select(null);
  }
  show();
}

function press(node, event) {
  const isOnHead = node && node.graphs.length > 0 && (event.clientX / view.scale + view.x - node.X < 24) &&
    event.clientY / view.scale + view.y - node.Y < sizes.HEAD;
  const frame = node ? null : frameAt(event.clientX, event.clientY);
  if (isOnHead) {
    toggle(node);
  } else if (frame) {
    toggleFrame(frame);
  } else {
    select(node);
  }
}
canvas.addEventListener("dblclick", (event) => {
  const node = boxAt(event.clientX, event.clientY);
  if (node && node.graphs.length > 0) {
    toggle(node);
  }
});

function textOf(node) {
  if (node.text !== undefined) {
    return node.text;
  }
  if (node.item < 0) {
    return [node.label, ...node.lines].filter(Boolean).join("\n");
  }
  const { items, values, types, overlays } = tables();
  const item = items[node.item];
  const results = (item.out || []).map((value) => `${values[value][0]}: ${types[values[value][1]]}`);
  const highlights = (item.highlights || []).map(([number, [line]]) => `${overlays[number]}: ${line}`);
  return [item.op || `${item.port} ${item.name}`, ...results.slice(0, 8), ...node.marks, ...highlights].join("\n");
}

function point(event) {
  const node = boxAt(event.clientX, event.clientY);
  canvas.classList.toggle("pointing", Boolean(node || frameAt(event.clientX, event.clientY)));
  const isFrame = node && node.isOpen && node.graphs.length > 0;
  tip.style.display = node && !isFrame ? "block" : "none";
  if (node && !isFrame) {
    if (node !== hovered) {
      tip.textContent = textOf(node);
    }
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
  }
  hovered = node;
}
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
