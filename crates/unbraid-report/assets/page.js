"use strict";
// Shows the values of a chart at the pointer, or, with the arrow keys, step by step.
(() => {
  const svgNamespace = "http://www.w3.org/2000/svg";
  const readout = document.createElement("div");
  readout.id = "readout";
  readout.setAttribute("role", "status");
  readout.hidden = true;
  document.body.append(readout);

  const written = (value) => {
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
    return String(Number(value.toPrecision(4)));
  };
  const nearest = (places, wanted) => {
    let best = 0;
    for (let i = 1; i < places.length; i += 1) {
      if (Math.abs(places[i] - wanted) < Math.abs(places[best] - wanted)) best = i;
    }
    return best;
  };

  // What a chart of curves shows: all of them at one place of the horizontal axis.
  const curvesOf = ({ x, y, at, curves }) => {
    const drawn = curves.filter((curve) => curve.x.length > 0);
    const steps = drawn.reduce((long, curve) => (curve.x.length > long.length ? curve.x : long), []);
    const along = ([low, high, from, to], value) => from + ((value - low) / (high - low)) * (to - from);
    return {
      count: steps.length,
      first: steps.length - 1,
      at: (place) => nearest(steps, x[0] + ((place - x[2]) / (x[3] - x[2])) * (x[1] - x[0])),
      place: (index) => [along(x, steps[index]), 0],
      show: (index, draw, say) => {
        const wanted = steps[index];
        const place = along(x, wanted);
        draw("line", { x1: place, x2: place, y1: y[2], y2: y[3], class: "axis" });
        say(`${at} ${wanted.toLocaleString("en")}`);
        for (const curve of drawn) {
          const point = nearest(curve.x, wanted);
          const height = along(y, curve.y[point]);
          if (height <= y[2] && height >= y[3]) {
            draw("circle", { cx: along(x, curve.x[point]), cy: height, r: 3, fill: curve.colour });
          }
          say(`${curve.name} ${written(curve.y[point])}`, curve.colour);
        }
      },
    };
  };

  // What a chart of marks shows: the words of one of them.
  const marksOf = ({ near, marks }) => ({
    count: marks.length,
    first: -1,
    at: (x, y) => {
      const away = marks.map((mark) => Math.hypot(near === "row" ? 0 : mark[0] - x, mark[1] - y));
      return nearest(away, 0);
    },
    place: (index) => marks[index],
    show: (index, draw, say) => {
      const [x, y, colour, words] = marks[index];
      if (near === "point") draw("circle", { cx: x, cy: y, r: 5, class: "around" });
      words.split("\n").forEach((line, place) => say(line, place === 0 ? colour : null));
    },
  });

  for (const svg of document.querySelectorAll("svg[data-chart]")) {
    const data = JSON.parse(svg.dataset.chart);
    const content = data.marks ? marksOf(data) : curvesOf(data);
    if (content.count === 0) continue;
    const marks = document.createElementNS(svgNamespace, "g");
    marks.setAttribute("pointer-events", "none");
    svg.append(marks);
    let current = content.first;

    const draw = (name, attributes) => {
      const element = document.createElementNS(svgNamespace, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      marks.append(element);
    };
    const say = (text, colour) => {
      const line = document.createElement("div");
      if (colour) {
        const dot = document.createElement("i");
        dot.style.background = colour;
        line.append(dot);
      }
      line.append(text);
      readout.append(line);
    };
    const show = (index, left, top) => {
      current = index;
      marks.replaceChildren();
      readout.replaceChildren();
      content.show(index, draw, say);
      readout.hidden = false;
      const box = readout.getBoundingClientRect();
      const right = document.documentElement.clientWidth - box.width - 8;
      const below = window.innerHeight - box.height - 8;
      readout.style.left = `${Math.max(8, left + 14 > right ? Math.min(right, left - box.width - 14) : left + 14)}px`;
      readout.style.top = `${Math.max(8, Math.min(below, top + 14))}px`;
    };
    const hide = () => {
      marks.replaceChildren();
      readout.hidden = true;
    };

    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const unit = box.width / svg.viewBox.baseVal.width;
      const index = content.at((event.clientX - box.left) / unit, (event.clientY - box.top) / unit);
      show(index, event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const stride = { ArrowLeft: -1, ArrowRight: 1, Home: -content.count, End: content.count }[event.key];
      if (event.key === "Escape") hide();
      if (stride === undefined) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      const unit = box.width / svg.viewBox.baseVal.width;
      const index = Math.max(0, Math.min(content.count - 1, current + stride));
      const [x, y] = content.place(index);
      show(index, box.left + x * unit, box.top + y * unit);
    });
  }
})();
