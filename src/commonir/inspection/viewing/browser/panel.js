// The panel with the details of what is selected, as elements of which every text is plain text.

function make(tag, content, attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element[name] = value;
  }
  element.append(...[content].flat(Infinity).filter((part) => part !== null && part !== undefined && part !== ""));
  return element;
}

class Panel {
  /** `tables` returns the tables of items, values, types, definitions and weights; `go` shows an item. */
  constructor(panel, tables, go) {
    this.panel = panel;
    this.body = panel.querySelector("#details");
    this.tables = tables;
    this.go = go;
  }

  hide() {
    this.panel.hidden = true;
  }

  show(...content) {
    this.body.replaceChildren(...content.flat(Infinity).filter(Boolean));
    this.panel.hidden = false;
    this.panel.scrollTop = 0;
  }

  /** Shows the lines of a tooltip. */
  lines(text) {
    const [first, ...rest] = text.split("\n");
    this.show(make("h2", first), rest.map((line) => make("p", line)));
  }

  /** Shows a group of operations. */
  group(node, toggle) {
    const button = make("button", node.isOpen ? "fold" : "open", { onclick: toggle });
    this.show(make("h2", node.label), node.lines.map((line) => make("p", line)), make("p", button));
  }

  /** Shows an operation, an input or an output; an operator without a definition under the label of its box. */
  item(number, label, toggle) {
    const { items, definitions, overlays } = this.tables();
    const item = items[number];
    const [family, about] = definitions[item.op] || ["", ""];
    const weights = (item.in || []).filter((operand) => operand.length === 4);
    this.show(
      make("h2", !item.op ? item.name : item.op.endsWith(label) ? item.op : label),
      make("p", item.op ? [item.name, item.also].filter(Boolean).join(" · ") : item.port),
      about ? make("p", about, { className: "doc" }) : null,
      family ? make("p", make("small", family)) : null,
      (item.marks || []).map((line) => make("p", line, { className: "alert" })),
      (item.highlights || []).map(([number, lines]) => [make("h3", overlays[number]), lines.map((line) => make("p", line))]),
      toggle ? make("p", make("button", "open or fold its blocks", { onclick: toggle })) : null,
      this.section("Attributes", item.attributes || []),
      this.section(item.port ? "Value" : "Operands", (item.in || []).map((operand) => this.operand(operand, number))),
      this.section(item.port ? "Value" : "Results", (item.out || []).map((value) => this.result(value))),
      weights.length ? [make("h3", "Weights"), weights.map(([name, , , at]) => this.weight(name, at, number, weights.length < 4))] : [],
      item.where ? [make("h3", "Source"), make("p", item.where)] : [],
    );
  }

  section(title, rows) {
    return rows.length ? [make("h3", title), make("dl", rows.flatMap(([name, text]) => [make("dt", name || "value"), make("dd", text)]))] : [];
  }

  link(number) {
    const { items } = this.tables();
    const item = items[number];
    const label = item.op ? [item.op.replace(/^\w+\./, ""), item.name].filter(Boolean).join(" ") : `${item.port} ${item.name}`;
    return make("a", label, { tabIndex: 0, onclick: () => this.go(number), onkeydown: (e) => e.key === "Enter" && this.go(number) });
  }

  links(numbers) {
    const shown = [...new Set(numbers)];
    const parts = shown.slice(0, 40).flatMap((number, n) => [n ? ", " : "", this.link(number)]);
    return shown.length > 40 ? [...parts, ` and ${shown.length - 40} more`] : parts;
  }

  operand([name, value, literal, weight], self) {
    const { values, types, weights } = this.tables();
    if (weight !== undefined && weight !== null) {
      return [name, [`${weights[weight].name} `, make("small", weights[weight].type)]];
    }
    if (value === null || value === undefined) {
      return [name, literal];
    }
    const [text, type, maker, users] = values[value];
    const others = users.filter((user) => user !== self);
    return [name, [
      make("div", [text || "(no name)", " ", make("small", types[type])]),
      maker === null ? null : make("div", ["from ", this.link(maker)]),
      others.length ? make("div", [make("small", "also used by "), ...this.links(others)]) : null,
    ]];
  }

  result(value) {
    const { values, types } = this.tables();
    const [text, type, , users] = values[value];
    return [text || "(no name)", [
      make("div", make("small", types[type])),
      make("div", users.length ? ["used by ", ...this.links(users)] : make("small", "not used")),
    ]];
  }

  weight(operand, at, self, open) {
    const weight = this.tables().weights[at];
    const facts = [
      ["type", weight.type],
      ["storage", weight.storage],
      ["size", `${weight.count.toLocaleString("en")} elements, ${weight.bytes}`],
    ];
    for (const key of ["min", "max", "mean", "nan", "inf"]) {
      if (weight[key] !== undefined) {
        facts.push([key, String(weight[key])]);
      }
    }
    if (weight.zeros !== undefined && Number(weight.zeros) > 0) {
      facts.push(["zeros", `${(100 * Number(weight.zeros)).toFixed(1)} %`]);
    }
    const others = weight.users.filter((user) => user !== self);
    const details = make("details", [
      make("summary", [make("b", operand), ` ${weight.name}`]),
      make("dl", facts.flatMap(([name, text]) => [make("dt", name), make("dd", text)])),
      weight.histogram && weight.histogram.length > 1 ? [histogram(weight), make("p", [make("small", weight.min), make("small", weight.max)], { className: "ends" })] : null,
      weight.first ? make("p", [make("small", "first elements "), weight.first.join(", ")]) : null,
      weight.note ? make("p", make("small", weight.note)) : null,
      others.length ? make("p", [make("small", "also used by "), ...this.links(others)]) : null,
    ]);
    details.open = open;
    return details;
  }
}

function histogram({ histogram: counts, min, max }) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "histogram");
  svg.setAttribute("viewBox", `0 0 ${counts.length * 10} 100`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `histogram from ${min} to ${max}`);
  const most = Math.max(...counts);
  for (const [n, count] of counts.entries()) {
    const bar = document.createElementNS(space, "rect");
    const height = count ? Math.max(2, (100 * count) / most) : 0;
    for (const [name, value] of Object.entries({ x: n * 10, y: 100 - height, width: 9, height })) {
      bar.setAttribute(name, value);
    }
    svg.append(bar);
  }
  return svg;
}
