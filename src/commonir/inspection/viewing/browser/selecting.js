// Folds and opens boxes, selects them, and lights their lines.

// -- folding

function toggle(node) {
  const [x, y] = [node.X, node.Y];
  node.isOpen = !node.isOpen;
  rearrange();
  // Its corner stays where it is.
  view.x += node.X - x;
  view.y += node.Y - y;
  select(node);
}

function setAll(isOpen) {
  const place = selected && { ...selected };
  for (const node of nodes) {
    node.isOpen = isOpen && node.graphs.length > 0;
  }
  for (const graph of graphs) {
    graph.isOpen = isOpen || graphs.length <= 2;
  }
  rearrange();
  if (selected && !isVisible(selected)) {
    select(null);
  }
  if (selected && place) {
    view.x += selected.X - place.X;
    view.y += selected.Y - place.Y;
    show();
  } else {
    start();
  }
}

function holders(node) {
  const result = [];
  for (let holder = node.graph && node.graph.parent; holder; holder = holder.graph.parent) {
    result.push(holder);
  }
  return result;
}
/** Returns the outermost graph in which a box is. */
const functionOf = (node) => [...holders(node), node].reduce((best, { graph }) => (graph && !graph.parent ? graph : best), null);
const isVisible = (node) => holders(node).every((holder) => holder.isOpen) && (functionOf(node) || { isOpen: true }).isOpen;

// -- selecting

let lit = new Set();
function select(node) {
  if (node && node.role === "outer") {
    // It is described where it is computed.
    const { value } = node.graph.lines.find((line) => line.source === node);
    go(tables().values[value][2]);
    return;
  }
  selected = node;
  lit = new Set();
  if (!node) {
    panel.hide();
    show();
    return;
  }
  if (node.text !== undefined) {
    panel.lines(node.text);
  } else if (node.item < 0) {
    panel.group(node, () => toggle(node));
  } else {
    panel.item(node.item, node.label, node.graphs.length ? () => toggle(node) : null);
  }
  light(node);
  try {
    history.replaceState(null, "", `#${encodeURIComponent(nameOf(node))}`);
  } catch {
    // A page inside another one may not change its address.
  }
  show();
}

/** Lights the lines of a box: all those of its results, and its operands from where they are computed. */
function light(node) {
  if (!data.graphs) {
    return;
  }
  const { items } = tables();
  const item = items[node.item] || {};
  const results = new Set(item.out || []);
  const operands = new Set((item.in || []).map(([, value]) => value));
  const around = new Set([node, ...holders(node)]);
  for (const { line } of scene.lines) {
    const isOwn = line.source === node || line.target === node;
    if (isOwn || results.has(line.value) || (operands.has(line.value) && (around.has(line.target) || line.target.role === "port"))) {
      lit.add(line);
    }
  }
}

function nameOf(node) {
  const item = node.item >= 0 ? tables().items[node.item] : null;
  return (item && item.name) || `@${node.at}`;
}

function go(number) {
  const node = byItem.get(number);
  if (node) {
    reveal(node);
  }
}

/** Opens what is around a box, moves there and selects it. */
function reveal(node) {
  const closed = holders(node).filter((holder) => !holder.isOpen);
  for (const holder of closed) {
    holder.isOpen = true;
  }
  const outermost = functionOf(node);
  const isFolded = outermost && !outermost.isOpen;
  if (isFolded) {
    outermost.isOpen = true;
  }
  if (closed.length || isFolded) {
    rearrange();
  }
  select(node);
  view.scale = Math.max(view.scale, 0.7);
  centre(node.X + node.width / 2, node.Y + Math.min(node.height / 2, canvas.clientHeight / view.scale / 3));
}

const panel = new Panel(byId("panel"), tables, go);
byId("close").addEventListener("click", () => select(null));

function followAddress() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name) {
    return;
  }
  const { items } = tables();
  const number = items.findIndex((item) => item.name === name || item.also === name);
  const node = byItem.get(number) || nodes.find((n) => `@${n.at}` === name);
  if (node && node !== selected) {
    reveal(node);
  }
}
addEventListener("hashchange", followAddress);
