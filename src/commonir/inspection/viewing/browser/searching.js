// Finds boxes by name, type and operation.

const query = byId("query");
const found = byId("found");
const results = byId("results");
let matches = [];
let at = -1;
let index = null;
// The frame in a notebook has no room for more above the drawing.
const HIGHEST = innerHeight < 760 ? 3 : 8;
const LONGEST = 28;

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
    const highlights = (item.highlights || []).flatMap(([, lines]) => lines);
    return { node, text: [item.op || item.port, node.label, item.name, item.also, ...texts, ...node.marks, ...highlights].join(" ").toLowerCase() };
  });
}

function look() {
  const words = query.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  index ??= buildIndex();
  matches = words.length ? index.filter(({ text }) => words.every((word) => text.includes(word))).map(({ node }) => node) : [];
  hits = new Set(matches);
  at = -1;
  found.textContent = words.length ? `${matches.length.toLocaleString("en")} found` : "";
  if (overlay >= 0) {
    // The highest first; without words these alone.
    const height = (node) => (node.highlights[overlay] || [0, -2])[1];
    matches = words.length ? matches : nodes.filter((node) => node.item >= 0 && node.highlights[overlay]);
    matches.sort((a, b) => height(b) - height(a));
    if (!words.length) {
      matches = matches.slice(0, HIGHEST);
      found.textContent = matches.length ? `the highest: ${data.legends[overlay + 1][0]}` : "";
    }
  }
  results.replaceChildren(...matches.slice(0, 200).map((node, n) => row(node, n)));
  show();
}

/** Returns the type of the first result of an operation, or of an output. */
function typeOf(item) {
  const { values, types } = tables();
  const [value] = item.out || (item.in || []).map((operand) => operand[1]);
  return typeof value === "number" ? types[values[value][1]].replace(/^tensor<(.*)>$/, "$1").replace("!builtin.", "") : "";
}

/** Returns the end of a name, which says more than its beginning. */
const endOf = (name) => (name.length > LONGEST ? `…${name.slice(1 - LONGEST)}` : name);

function row(node, n) {
  const item = node.item >= 0 ? tables().items[node.item] : null;
  const highlight = node.highlights[overlay];
  const [first, rest] = item ? [node.label, highlight ? [highlight[3], endOf(item.name)] : [endOf(item.name), typeOf(item)]] : [node.text.split("\n")[0], node.text.split("\n").slice(1, 2)];
  return make("li", [make("b", first), make("span", rest.filter(Boolean).join("  "))], {
    onclick: () => jump(n),
    title: item ? item.name : "",
  });
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
  const isBack = event.key === "ArrowUp" || event.shiftKey;
  if (["Enter", "ArrowDown", "ArrowUp"].includes(event.key) && matches.length) {
    event.preventDefault();
    jump((at + (isBack ? matches.length - 1 : 1) + (at < 0 && isBack ? 1 : 0)) % matches.length);
  } else if (event.key === "Escape") {
    query.value = "";
    look();
    canvas.focus();
  }
});
