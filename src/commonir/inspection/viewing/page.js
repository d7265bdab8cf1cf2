(() => {
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
        result.boxes.push({ X, Y, width, height, at, text, also, role: "step", item: -1, graphs: [] });
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
    for (const sample of document.querySelectorAll("#legend i")) {
      const { fill, stroke, dash, width } = styles[sample.dataset.style];
      sample.style.background = fill ? color(fill) : "none";
      sample.style.border = stroke ? `${Math.min(width || 1, 2)}px ${dash ? "dashed" : "solid"} ${color(stroke)}` : "none";
    }
  }
  const color = (pair) => pair[isDark() ? 1 : 0];
  const accent = () => (isDark() ? "#ffb454" : "#c04a00");

  // -- drawing

  function paint(name, path) {
    const style = styles[name];
    context.globalAlpha = style.opacity ?? 1;
    if (style.fill) {
      context.fillStyle = color(style.fill);
      context.fill(path);
    }
    if (style.stroke) {
      context.strokeStyle = color(style.stroke);
      context.lineWidth = style.width || 1;
      context.setLineDash(style.dash || []);
      context.stroke(path);
      context.setLineDash([]);
    }
    context.globalAlpha = 1;
  }

  function rounded(x, y, width, height, radius) {
    const path = new Path2D();
    path.roundRect(x, y, width, height, radius);
    return path;
  }

  const widths = new Map();
  function widthOf(text, font) {
    const key = font + text;
    if (!widths.has(key)) {
      context.font = font;
      widths.set(key, context.measureText(text).width);
    }
    return widths.get(key);
  }

  const cuts = new Map();
  /** Returns a text shortened to a width, at its end or at its beginning. */
  function cut(text, font, room, isTail) {
    const key = `${font}|${room}|${isTail}|${text}`;
    if (!cuts.has(key)) {
      let shown = text;
      for (let n = text.length - 1; n > 0 && widthOf(shown, font) > room; n--) {
        shown = isTail ? `…${text.slice(text.length - n)}` : `${text.slice(0, n)}…`;
      }
      cuts.set(key, shown);
    }
    return cuts.get(key);
  }

  const bold = (size) => `600 ${size}px ${FONT}`;
  const plain = (size) => `${size}px ${FONT}`;

  function write(text, x, y, font, fill) {
    context.font = font;
    context.fillStyle = fill;
    context.fillText(text, x, y);
  }

  function drawBox(node) {
    const { X: x, Y: y, width, height } = node;
    const isOpen = node.isOpen && node.graphs.length > 0;
    const isGroup = node.role === "group";
    const isOp = node.role === "op";
    const radius = isOp ? 5 : isGroup ? 8 : 14;
    const frame = rounded(x, y, width, height, radius);
    const isFar = view.scale < 0.22;
    if (!isOpen) {
      paint(isOp ? (isFar ? `is-${node.family}` : "card") : isGroup ? "fold" : "port", frame);
    }
    if (isOp && (isOpen || !isFar)) {
      paint(`is-${node.family}`, rounded(x, y, width, sizes.HEAD, node.lines.some(Boolean) || isOpen ? [5, 5, 0, 0] : 5));
    }
    if (node.marks.length) {
      paint("differs", frame);
    }
    if (view.scale >= 0.16) {
      const arrow = node.graphs.length ? (node.isOpen ? "▾ " : "▸ ") : "";
      const room = width - 14;
      if (isGroup && isOpen) {
        const title = cut(`▾ ${node.label} · ${node.lines[0]}`, plain(SMALL), room, false);
        context.fillStyle = color(styles.nest.fill);
        context.fillRect(x + 6, y + 4, widthOf(title, plain(SMALL)) + 4, 15);
        write(title, x + 8, y + 15, plain(SMALL), color(styles.sub.fill));
        return;
      }
      write(cut(arrow + node.label, bold(12), room, false), x + 7, y + 15, bold(12), color((isOp ? styles.onname : styles.name).fill));
      if (view.scale >= 0.35) {
        let n = 0;
        for (const line of node.lines) {
          if (line) {
            n += 1;
            write(cut(line, plain(SMALL), room, n === 1), x + 7, y + sizes.HEAD + sizes.LINE * n - 1, plain(SMALL), color(styles.sub.fill));
          }
        }
      }
    }
  }

  function drawGraphs(area) {
    for (const back of scene.backs) {
      if (!isSeen(back.X, back.Y, back.width, back.height, area)) {
        continue;
      }
      const style = back.role === "op" ? "card" : back.role === "group" ? "nest" : "bar";
      paint(style, rounded(back.X, back.Y, back.width, back.height, 6));
      if (style === "bar" && view.scale >= 0.16) {
        const arrow = back.graph.parent ? "" : back.graph.isOpen ? "▾ " : "▸ ";
        const title = cut(arrow + back.title, bold(14), back.width - sizes.PAD, false);
        write(title, back.X + sizes.PAD, back.Y + 19, bold(14), color(styles.head.fill));
      }
    }
    const usual = new Path2D();
    const hot = new Path2D();
    const tips = { usual: new Path2D(), hot: new Path2D() };
    for (const seen of scene.lines) {
      if (seen.high < area.left || seen.low > area.right || seen.bottom < area.top || seen.top > area.bottom) {
        continue;
      }
      const isHot = lit.has(seen.line);
      trace(isHot ? hot : usual, seen.points);
      if (seen.tip !== 0 && view.scale >= 0.16) {
        const at = seen.tip > 0 ? seen.points.length - 2 : 0;
        const [x, y] = [seen.points[at], seen.points[at + 1]];
        const path = isHot ? tips.hot : tips.usual;
        path.moveTo(x, y);
        path.lineTo(x - 3.5, y - 7 * seen.tip);
        path.lineTo(x + 3.5, y - 7 * seen.tip);
        path.closePath();
      }
    }
    const { stroke, width } = styles.value;
    const thick = (least) => Math.max(least, 0.6 / view.scale);
    context.lineWidth = thick(width);
    context.strokeStyle = context.fillStyle = color(stroke);
    context.stroke(usual);
    context.fill(tips.usual);
    for (const node of scene.boxes) {
      if (isSeen(node.X, node.Y, node.width, node.height, area)) {
        drawBox(node);
      }
    }
    context.lineWidth = thick(2.2);
    context.strokeStyle = context.fillStyle = accent();
    context.stroke(hot);
    context.fill(tips.hot);
  }

  function drawShape([kind, style, ...rest]) {
    if (kind === "group") {
      const [, parts, at, ends] = rest;
      const isHot = selected && ends && ends.includes(selected.at);
      for (const part of parts) {
        drawShape(part);
      }
      if (isHot) {
        const [, , ...points] = parts[0];
        context.strokeStyle = accent();
        context.lineWidth = 3;
        context.stroke(curve(points));
      }
      return at;
    }
    if (kind === "label") {
      const [x, y, text, anchor] = rest;
      const { size, is_bold: isBold, fill } = styles[style];
      context.textAlign = anchor === "middle" ? "center" : "left";
      write(text, x, y, isBold ? bold(size) : plain(size), color(fill));
      context.textAlign = "left";
      return "";
    }
    const path = new Path2D();
    if (kind === "box") {
      path.roundRect(rest[0], rest[1], rest[2], rest[3], rest[4]);
    } else if (kind === "segment") {
      path.moveTo(rest[0], rest[1]);
      path.lineTo(rest[2], rest[3]);
    } else if (kind === "curve") {
      path.addPath(curve(rest));
    } else if (kind === "polygon") {
      for (let n = 0; n < rest.length; n += 2) {
        path.lineTo(rest[n], rest[n + 1]);
      }
      path.closePath();
    } else {
      path.arc(rest[0], rest[1], rest[2], 0, 2 * Math.PI);
    }
    paint(style, path);
    return "";
  }

  function curve(points) {
    const path = new Path2D();
    path.moveTo(points[0], points[1]);
    for (let n = 2; n < points.length; n += 6) {
      path.bezierCurveTo(...points.slice(n, n + 6));
    }
    return path;
  }

  const isSeen = (x, y, width, height, area) => x <= area.right && x + width >= area.left && y <= area.bottom && y + height >= area.top;

  function outline(node, width, ink) {
    context.strokeStyle = ink;
    context.lineWidth = Math.max(width, width / view.scale / 1.5);
    context.stroke(rounded(node.X - 2, node.Y - 2, node.width + 4, node.height + 4, 7));
  }

  function draw() {
    isScheduled = false;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = color(styles.page.fill);
    context.fillRect(0, 0, canvas.width, canvas.height);
    const scale = view.scale * ratio;
    context.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
    const area = { left: view.x, top: view.y, right: view.x + width / view.scale, bottom: view.y + height / view.scale };
    if (scene.backs) {
      drawGraphs(area);
    } else {
      scene.shapes.forEach(drawShape);
    }
    for (const node of scene.boxes) {
      if (hits.has(node) && isSeen(node.X, node.Y, node.width, node.height, area)) {
        outline(node, 2, isDark() ? "#ffd866" : "#d9a400");
      }
    }
    if (selected && selected.X !== undefined) {
      outline(selected, 3, accent());
    }
    if (scene.heads) {
      // The heads of lanes stay in sight.
      context.translate(0, Math.max(0, view.y));
      scene.heads.forEach(drawShape);
    }
    drawWindow();
    if (isFirst) {
      isFirst = false;
      performance.mark("drawn");
      document.documentElement.dataset.drawn = String(Math.round(performance.now()));
      setTimeout(tables);
    }
  }

  function show() {
    const [width, height] = [canvas.clientWidth / view.scale, canvas.clientHeight / view.scale];
    view.x = Math.min(Math.max(view.x, -width * 0.75), scene.width - width * 0.25);
    view.y = Math.min(Math.max(view.y, -height * 0.75), scene.height - height * 0.25);
    tip.style.display = "none";
    if (!isScheduled) {
      isScheduled = true;
      requestAnimationFrame(draw);
    }
  }

  // -- the map

  const map = byId("map");
  const small = document.createElement("canvas");
  // Drawings are often very long: both directions have a scale of their own.
  const mapScale = () => ({
    x: Math.min(map.width / scene.width, (4 * map.height) / scene.height),
    y: Math.min(map.height / scene.height, (4 * map.width) / scene.width),
  });
  function drawMap() {
    small.width = map.width;
    small.height = map.height;
    const ink = small.getContext("2d");
    const scale = mapScale();
    for (const node of scene.boxes) {
      const isBig = node.isOpen && node.graphs.length > 0;
      ink.fillStyle = isBig ? "#88888822" : color((styles[`is-${node.family}`] || styles.port).fill);
      ink.fillRect(node.X * scale.x, node.Y * scale.y, Math.max(0.6, node.width * scale.x), Math.max(0.6, node.height * scale.y));
    }
  }
  function drawWindow() {
    const ink = map.getContext("2d");
    const scale = mapScale();
    ink.clearRect(0, 0, map.width, map.height);
    ink.drawImage(small, 0, 0);
    ink.strokeStyle = accent();
    const [width, height] = [(canvas.clientWidth / view.scale) * scale.x, (canvas.clientHeight / view.scale) * scale.y];
    ink.strokeRect(view.x * scale.x, view.y * scale.y, width, Math.max(2, height));
  }
  map.addEventListener("pointerdown", (event) => map.setPointerCapture(event.pointerId));
  for (const name of ["pointerdown", "pointermove"]) {
    map.addEventListener(name, (event) => {
      if (event.buttons) {
        centre(event.offsetX / mapScale().x, event.offsetY / mapScale().y);
      }
    });
  }

  // -- moving about

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
    view.scale = Math.min(1.1, Math.max(0.55, (canvas.clientWidth - side.right) / scene.width));
    const room = canvas.clientWidth / view.scale;
    const left = (side.right + 12) / view.scale;
    const first = scene.boxes.find((node) => node.role === "input") || scene.boxes[0] || scene.backs[0];
    // In the middle, else to the right of the title, else below it.
    view.x = (scene.width - room) / 2;
    view.y = -12 / view.scale;
    if (-view.x < left) {
      view.x = -left;
      if (left + scene.width > room) {
        view.x = scene.width <= room ? (scene.width - room) / 2 : first.X + first.width / 2 - room / 2;
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
    const { items, values, types } = tables();
    const item = items[node.item];
    const results = (item.out || []).map((value) => `${values[value][0]}: ${types[values[value][1]]}`);
    return [item.op || `${item.port} ${item.name}`, ...results.slice(0, 8), ...node.marks].join("\n");
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
      graph.isOpen = isOpen || graphs.length === 1;
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
      panel.item(node.item, node.graphs.length ? () => toggle(node) : null);
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

  // -- searching

  const query = byId("query");
  const found = byId("found");
  const results = byId("results");
  let matches = [];
  let at = -1;
  let index = null;

  function buildIndex() {
    if (!data.graphs) {
      return scene.boxes.map((node) => ({ node, text: `${node.text} ${node.also}`.toLowerCase() }));
    }
    const { items, values, types } = tables();
    return nodes.filter((node) => node.item >= 0).map((node) => {
      const item = items[node.item];
      const made = item.out || (item.in || []).map(([, value]) => value).filter((value) => typeof value === "number");
      const texts = made.map((value) => `${values[value][0]} ${types[values[value][1]]}`);
      if (node === node.graph.nodes[0]) {
        texts.push(node.graph.title);
      }
      return { node, text: [item.op || item.port, item.name, item.also, ...texts, ...node.marks].join(" ").toLowerCase() };
    });
  }

  function look() {
    const words = query.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    index ??= buildIndex();
    matches = words.length ? index.filter(({ text }) => words.every((word) => text.includes(word))).map(({ node }) => node) : [];
    hits = new Set(matches);
    at = -1;
    found.textContent = words.length ? `${matches.length.toLocaleString("en")} found` : "";
    results.replaceChildren(...matches.slice(0, 200).map((node, n) => row(node, n)));
    show();
  }

  /** Returns the type of the first result of an operation, or of an output. */
  function typeOf(item) {
    const { values, types } = tables();
    const [value] = item.out || (item.in || []).map((operand) => operand[1]);
    return typeof value === "number" ? types[values[value][1]].replace(/^tensor<(.*)>$/, "$1") : "";
  }

  function row(node, n) {
    const item = node.item >= 0 ? tables().items[node.item] : null;
    const [first, rest] = item ? [node.label, [item.name, typeOf(item)]] : [node.text.split("\n")[0], node.text.split("\n").slice(1, 2)];
    return make("li", [make("b", first), make("span", rest.filter(Boolean).join("  "))], { onclick: () => jump(n) });
  }

  function jump(n) {
    at = n;
    for (const [m, entry] of [...results.children].entries()) {
      entry.classList.toggle("now", m === n);
    }
    results.children[n]?.scrollIntoView({ block: "nearest" });
    found.textContent = `${n + 1} of ${matches.length.toLocaleString("en")}`;
    reveal(matches[n]);
  }

  query.addEventListener("input", look);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && matches.length) {
      jump((at + (event.shiftKey ? matches.length - 1 : 1) + (at < 0 && event.shiftKey ? 1 : 0)) % matches.length);
    } else if (event.key === "Escape") {
      query.value = "";
      look();
      canvas.focus();
    }
  });

  // -- buttons and keys

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
    "/": () => query.focus(),
    Enter: () => selected && selected.graphs.length && toggle(selected),
    Escape: () => select(null),
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
    const isTyping = event.target === query || (event.target.closest && event.target.closest("button, a, summary") && event.key === "Enter");
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
  useTheme(dark.matches ? "dark" : "light");
  rearrange();
  start();
  followAddress();
})();
