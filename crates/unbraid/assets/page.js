"use strict";
// Shows the values of a chart's curves at the pointer, or, with the arrow keys, step by step.
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

  for (const svg of document.querySelectorAll("svg[data-chart]")) {
    const { x, y, at, curves } = JSON.parse(svg.dataset.chart);
    const drawn = curves.filter((curve) => curve.x.length > 0);
    if (drawn.length === 0) continue;
    const steps = drawn.reduce((long, curve) => (curve.x.length > long.length ? curve.x : long), []);
    const marks = document.createElementNS(svgNamespace, "g");
    marks.setAttribute("pointer-events", "none");
    svg.append(marks);
    let current = steps.length - 1;

    const along = ([low, high, from, to], value) => from + ((value - low) / (high - low)) * (to - from);
    const mark = (name, attributes) => {
      const element = document.createElementNS(svgNamespace, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      marks.append(element);
    };
    const show = (index, left, top) => {
      current = index;
      const wanted = steps[index];
      const place = along(x, wanted);
      marks.replaceChildren();
      mark("line", { x1: place, x2: place, y1: y[2], y2: y[3], class: "axis" });
      const lines = [document.createTextNode(`${at} ${wanted.toLocaleString("en")}`)];
      for (const curve of drawn) {
        const point = nearest(curve.x, wanted);
        const height = along(y, curve.y[point]);
        if (height <= y[2] && height >= y[3]) {
          mark("circle", { cx: along(x, curve.x[point]), cy: height, r: 3, fill: curve.colour });
        }
        const dot = document.createElement("i");
        dot.style.background = curve.colour;
        const line = document.createElement("div");
        line.append(dot, `${curve.name} ${written(curve.y[point])}`);
        lines.push(line);
      }
      readout.replaceChildren(...lines);
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
      const place = (event.clientX - box.left) / unit;
      const wanted = x[0] + ((place - x[2]) / (x[3] - x[2])) * (x[1] - x[0]);
      show(nearest(steps, wanted), event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const stride = { ArrowLeft: -1, ArrowRight: 1, Home: -steps.length, End: steps.length }[event.key];
      if (event.key === "Escape") hide();
      if (stride === undefined) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      const index = Math.max(0, Math.min(steps.length - 1, current + stride));
      show(index, box.left + (along(x, steps[index]) * box.width) / svg.viewBox.baseVal.width, box.top);
    });
  }
})();
