"use strict";
// Arranges graphs whose boxes fold. A graph comes with columns and layers for folded boxes; an open box moves the columns
// beside it and the layers below it apart. Nothing here knows of the document.

/** Turns the rows of a graph into objects that know where they are. */
function readGraph(data, parent, index, all) {
  const graph = { isOpen: data.open !== false, title: data.title, least: data.least, parent, index, trunks: data.trunks, nodes: [], lines: [] };
  for (const [n, row] of data.nodes.entries()) {
    const [role, x, layer, w, h, item, family, label, lines, graphs, isOpen, marks, highlights] = row;
    const node = { role, x, layer, w, h, item, family, label, lines, graph, isOpen: Boolean(isOpen), marks: marks || [], highlights: highlights || [] };
    node.at = `${index}.${n}`;
    node.graphs = (graphs || []).map((inner, m) => readGraph(inner, node, `${node.at}.${m}`, all));
    graph.nodes.push(node);
    all.push(node);
  }
  for (const [source, target, trunk, spread, value, isBack, sourcePort, targetPort] of data.lines) {
    graph.lines.push({
      source: graph.nodes[source], target: graph.nodes[target], trunk: data.trunks[trunk], spread, value,
      isBack: Boolean(isBack), sourcePort, targetPort,
    });
  }
  return graph;
}

/** Computes sizes of boxes and graphs, and columns, with those boxes open that are. */
function measure(graph, sizes) {
  const { PAD, HEAD, LINE, BETWEEN, TITLE } = sizes;
  for (const node of graph.nodes) {
    node.width = node.w;
    node.height = node.h;
    if (!node.isOpen || node.graphs.length === 0) {
      continue;
    }
    for (const inner of node.graphs) {
      measure(inner, sizes);
    }
    if (node.role === "group") {
      const [inner] = node.graphs;
      node.width = Math.max(inner.width + 2 * PAD, inner.least);
      node.height = inner.height + HEAD + 2 * PAD;
    } else {
      const texts = node.lines.filter(Boolean).length;
      const frames = node.graphs.map((inner) => frameOf(inner, sizes));
      node.width = Math.max(node.w, frames.reduce((sum, frame) => sum + frame.width + PAD, PAD));
      node.height = HEAD + LINE * texts + (texts ? 4 : 0) + Math.max(...frames.map((frame) => frame.height)) + 2 * PAD;
    }
  }
  const heights = [];
  for (const node of graph.nodes) {
    heights[node.layer] = Math.max(heights[node.layer] || 0, node.height);
  }
  graph.heights = heights.length ? Array.from(heights, (height) => height || 0) : [];
  graph.height = graph.heights.reduce((sum, height) => sum + height + BETWEEN, 0) - (heights.length ? BETWEEN : 0);
  graph.column = columns(graph, sizes);
  graph.width = 0;
  for (const node of graph.nodes) {
    node.column = graph.column(node.x);
    graph.width = Math.max(graph.width, node.column + node.width / 2);
  }
  for (const trunk of graph.trunks) {
    for (let n = 0; n < trunk.length; n += 2) {
      graph.width = Math.max(graph.width, graph.column(trunk[n]) + sizes.POINT / 2);
    }
  }
}

/** The size of a graph in a frame with a title. */
function frameOf(graph, { PAD, TITLE }) {
  return { width: Math.max(graph.width, graph.least) + 2 * PAD, height: graph.height + TITLE + PAD };
}

/** Returns where each column goes: apart from the one before as it was, and from what is beside it in its layers. */
function columns(graph, { GAP, POINT }) {
  const opened = graph.nodes.filter((node) => node.isOpen && node.graphs.length > 0);
  if (opened.length === 0) {
    return (x) => x;
  }
  const layers = new Map(opened.map((node) => [node.layer, []]));
  for (const node of graph.nodes) {
    layers.get(node.layer)?.push({ x: node.x, half: node.width / 2 });
  }
  const starts = new Map();
  for (const line of graph.lines) {
    starts.set(line.trunk, line.source.layer + 1);
  }
  for (const [trunk, first] of starts) {
    let layer = first;
    for (let n = 0; n < trunk.length; n += 2) {
      for (const [at, items] of layers) {
        if (at >= layer && at < layer + trunk[n + 1]) {
          items.push({ x: trunk[n], half: POINT / 2 });
        }
      }
      layer += trunk[n + 1];
    }
  }
  const all = [...new Set([...graph.nodes.map((node) => node.x), ...graph.trunks.flatMap((t) => t.filter((_, n) => n % 2 === 0))])];
  all.sort((a, b) => a - b);
  const limits = new Map(all.map((x) => [x, []]));
  for (const items of layers.values()) {
    items.sort((a, b) => a.x - b.x);
    for (const [n, item] of items.entries()) {
      const before = items[n - 1];
      limits.get(item.x).push(before ? { x: before.x, apart: before.half + item.half + GAP } : { x: null, apart: item.half });
    }
  }
  const moved = new Map();
  let last = null;
  for (const x of all) {
    let to = last === null ? x : moved.get(last) + x - last;
    for (const { x: before, apart } of limits.get(x)) {
      to = Math.max(to, before === null ? apart : moved.get(before) + apart);
    }
    moved.set(x, to);
    last = x;
  }
  return (x) => moved.get(x);
}

/** Puts everything that is seen of graphs, side by side, into lists: what is behind lines (frames and open boxes, the
 * outer ones first), boxes and lines. Many graphs stand in rows. */
function arrange(graphs, sizes) {
  const scene = { backs: [], boxes: [], lines: [], width: 0, height: 0 };
  const { MARGIN, PAD, TITLE } = sizes;
  const frames = graphs.map((graph) => {
    measure(graph, sizes);
    return graph.isOpen ? frameOf(graph, sizes) : { width: graph.least + 3 * PAD, height: TITLE + 4 };
  });
  const area = frames.reduce((sum, { width, height }) => sum + (width + MARGIN) * (height + MARGIN), 0);
  const room = frames.length > 4 ? Math.max(1.3 * Math.sqrt(area), ...frames.map(({ width }) => width)) : Infinity;
  let [x, y, below] = [MARGIN, MARGIN, MARGIN];
  for (const [n, frame] of frames.entries()) {
    if (x > MARGIN && x + frame.width > room) {
      [x, y] = [MARGIN, below];
    }
    framed(graphs[n], x, y, frame, scene, sizes);
    x += frame.width + MARGIN;
    scene.width = Math.max(scene.width, x);
    below = Math.max(below, y + frame.height + MARGIN);
  }
  scene.height = below;
  return scene;
}

function framed(graph, x, y, frame, scene, sizes) {
  scene.backs.push({ X: x, Y: y, width: frame.width, height: frame.height, title: graph.title, graph });
  if (graph.isOpen) {
    inside(graph, x + (frame.width - graph.width) / 2, y + sizes.TITLE, sizes.TITLE, scene, sizes);
  }
}

function inside(graph, left, top, above, scene, sizes) {
  const tops = [top];
  for (const height of graph.heights) {
    tops.push(tops[tops.length - 1] + height + sizes.BETWEEN);
  }
  for (const node of graph.nodes) {
    node.X = left + node.column - node.width / 2;
    node.Y = tops[node.layer] + (graph.heights[node.layer] - node.height) / 2;
  }
  for (const line of graph.lines) {
    scene.lines.push(routed(graph, line, left, tops, above, sizes));
  }
  for (const node of graph.nodes) {
    if (node.role === "port") {
      continue;
    }
    scene.boxes.push(node);
    if (!node.isOpen || node.graphs.length === 0) {
      continue;
    }
    scene.backs.push(node);
    if (node.role === "group") {
      const [inner] = node.graphs;
      const space = sizes.HEAD + sizes.PAD / 2;
      inside(inner, node.X + (node.width - inner.width) / 2, node.Y + space, space, scene, sizes);
    } else {
      const frames = node.graphs.map((inner) => frameOf(inner, sizes));
      let x = node.X + sizes.PAD;
      const y = node.Y + node.height - sizes.PAD - Math.max(...frames.map((frame) => frame.height));
      for (const [n, inner] of node.graphs.entries()) {
        framed(inner, x, y, frames[n], scene, sizes);
        x += frames[n].width + sizes.PAD;
      }
    }
  }
}

/** Returns where on the border of a box a line ends: at the port of an open group, else near its middle. */
function end(node, port, spread) {
  const middle = node.X + node.width / 2;
  if (port < 0 || !node.isOpen) {
    return middle + spread;
  }
  const [inner] = node.graphs;
  return middle - inner.width / 2 + inner.nodes[port].column;
}

function routed(graph, line, left, tops, above, sizes) {
  const { source, target, trunk } = line;
  const begin = end(source, line.sourcePort, 0);
  const finish = end(target, line.targetPort, line.spread);
  const isEntry = source.role === "port";
  const isExit = target.role === "port";
  const bottom = source.Y + source.height;
  const points = [begin, isEntry ? bottom - above : bottom];
  // A column is one line however many layers it passes.
  const go = (x, from, to) => {
    const n = points.length;
    if (Math.abs(points[n - 2] - x) < 0.05 && n > 2) {
      points[n - 1] = to;
    } else {
      points.push(x, from, x, to);
    }
  };
  go(begin, bottom, tops[source.layer] + graph.heights[source.layer]);
  let layer = source.layer + 1;
  for (let n = 0; n < trunk.length && layer < target.layer; n += 2) {
    const last = Math.min(layer + trunk[n + 1], target.layer) - 1;
    go(left + graph.column(trunk[n]), tops[layer], tops[last] + graph.heights[last]);
    layer = last + 1;
  }
  go(finish, tops[target.layer], isExit ? target.Y + 1.5 * sizes.PAD : target.Y);
  const tip = line.isBack ? -1 : !isExit && !(line.targetPort >= 0 && target.isOpen) ? 1 : 0;
  let low = Infinity;
  let high = -Infinity;
  for (let n = 0; n < points.length; n += 2) {
    low = Math.min(low, points[n]);
    high = Math.max(high, points[n]);
  }
  return { line, points, tip, low, high, top: points[1], bottom: points[points.length - 1] };
}

/** Draws a line as a path: vertical where it leaves and reaches its points. */
function trace(path, points) {
  path.moveTo(points[0], points[1]);
  for (let n = 2; n < points.length; n += 2) {
    const [x, y, toX, toY] = [points[n - 2], points[n - 1], points[n], points[n + 1]];
    if (x === toX) {
      path.lineTo(toX, toY);
    } else {
      path.bezierCurveTo(x, (y + toY) / 2, toX, (y + toY) / 2, toX, toY);
    }
  }
}
