// Draws boxes, lines and shapes on the canvas, and the map.

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
  const head = isGroup && isOpen ? null : headOf(node);
  if (!isOpen) {
    paint(head && isFar ? head : isOp ? "card" : isGroup ? "fold" : "port", frame);
  }
  if (head && (isOpen || !isFar)) {
    paint(head, rounded(x, y, width, sizes.HEAD, node.lines.some(Boolean) || isOpen ? [radius, radius, 0, 0] : radius));
  }
  const framed = overlay < 0 ? node.marks.length && "differs" : node.highlights[overlay] && node.highlights[overlay][2];
  if (framed) {
    paint(framed, frame);
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
    write(cut(arrow + node.label, bold(12), room, false), x + 7, y + 15, bold(12), color(styles[head ? (overlay < 0 ? "onname" : `on-${head}`) : "name"].fill));
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
  x: Math.min(1, map.width / scene.width),
  y: Math.min(map.height / scene.height, (4 * map.width) / scene.width),
});
function drawMap() {
  small.width = map.width;
  small.height = map.height;
  const ink = small.getContext("2d");
  const scale = mapScale();
  for (const node of scene.boxes) {
    const isBig = node.isOpen && node.graphs.length > 0;
    ink.fillStyle = isBig ? "#88888822" : color(styles[headOf(node) || "port"].fill);
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
