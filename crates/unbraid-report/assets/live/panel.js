// Sliders, buttons and a pad that move the latent units of the models of a page. The first model has the controls; the others
// follow where a unit of theirs matches.
(() => {
  const byId = (id) => document.getElementById(id);
  const root = byId("live");
  const data = JSON.parse(byId("live-data").textContent);
  const models = data.models.map((model, place) => ({
    ...model,
    ...unbraidEngine.load(model, byId(`live-weights-${place}`).textContent),
    code: Float32Array.from(model.middle),
    start: Float32Array.from(model.middle),
  }));
  const [main, ...followers] = models;

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (value !== false && value !== null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const button = (words, click, more = {}) => element("button", { type: "button", click, ...more }, words);
  const shown = (value) => value.toFixed(2).replace("-", "\u2212");
  const status = element("p", { class: "faint live-status", role: "status" });
  const say = (words) => status.replaceChildren(words);

  // --- What is decoded -----------------------------------------------------------------------------------------------------
  const view = (data.columns ? unbraidFeatures : unbraidPictures)({ data, models, element });
  const speed = element("span", { class: "faint" });
  let [waiting, average, told, drawn] = [false, null, -Infinity, 0];
  const draw = () => {
    waiting = false;
    const began = performance.now();
    models.forEach((model, place) => view.show(place, model.decode(model.code)));
    const now = performance.now();
    drawn += 1;
    // The first ones are drawn by code that the browser has not compiled yet.
    if (drawn <= 3) return;
    average = average === null ? now - began : 0.9 * average + 0.1 * (now - began);
    if (now - told > 500) {
      told = now;
      speed.replaceChildren(`${average.toFixed(average < 10 ? 1 : 0)} ms a ${view.thing}`);
    }
  };
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  };

  // --- The units -----------------------------------------------------------------------------------------------------------
  const controls = main.units.map(() => null);
  const pad = { across: 0, up: 1, show: () => {} };
  const showAll = () => {
    controls.forEach((control) => control.show());
    pad.show();
    redraw();
  };
  // Sets a unit of the first model, and what matches it in the others.
  const setUnit = (place, value) => {
    main.code[main.units[place].column] = value;
    for (const model of followers) {
      const match = model.matches[place];
      if (!match) continue;
      const moved = match.offset + match.slope * value;
      model.code[match.column] = Math.min(match.high, Math.max(match.low, moved));
    }
    controls[place].show();
    pad.show();
    redraw();
  };
  const setClass = (place, chosen) => {
    const { column, classes } = main.units[place];
    for (let i = 0; i < classes; i += 1) main.code[column + i] = i === chosen ? 1 : 0;
    controls[place].show();
    redraw();
  };
  const follow = () => {
    main.units.forEach((unit, place) => {
      if (!unit.classes) setUnit(place, main.code[unit.column]);
    });
  };
  const markStart = () => {
    if (view.started) models.forEach((model, place) => view.started(place, model.decode(model.start)));
  };
  const startFrom = (codes) => {
    models.forEach((model, place) => {
      model.code = Float32Array.from(codes[place]);
      model.start = Float32Array.from(codes[place]);
    });
    markStart();
    showAll();
  };
  const reset = () => {
    stop();
    startFrom(models.map((model) => model.start));
  };

  // --- Animation: one unit goes over its range and back ----------------------------------------------------------------------
  let playing = null;
  const stop = () => {
    if (playing === null) return;
    const control = controls[playing];
    playing = null;
    control.show();
  };
  const play = (place) => {
    const same = playing === place;
    stop();
    if (same) return;
    playing = place;
    const { low, high, column } = main.units[place];
    const share = Math.min(1, Math.max(-1, (2 * (main.code[column] - low)) / (high - low) - 1));
    const began = performance.now() - (Math.asin(share) / (2 * Math.PI)) * 4000;
    const step = () => {
      if (playing !== place) return;
      const phase = (2 * Math.PI * (performance.now() - began)) / 4000;
      setUnit(place, low + ((high - low) * (1 + Math.sin(phase))) / 2);
      requestAnimationFrame(step);
    };
    step();
  };

  // --- Names ---------------------------------------------------------------------------------------------------------------
  const names = main.units.map((unit) => unit.name ?? "");
  const titleOf = (place) => names[place] || main.units[place].label;
  const command = element("code");
  const commandLine = element("p", { hidden: "" }, "Or in a terminal, where the run\u2019s directory is: ", command);
  // A word for the shell as it is; a page does not know the path of its run, but its name may have spaces.
  const quoted = (word) =>
    (/^[\w./][\w./:,+@-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const isName = (name, place) =>
    name === "" || (name.length <= 40 && /\p{L}/u.test(name) && !/[=\p{Cc}]/u.test(name) &&
      !/^category\.\d+$/.test(name) && names.every((other, at) => at === place || other !== name));
  const rename = (place, input) => {
    const name = input.value.trim();
    const fits = isName(name, place);
    input.setAttribute("aria-invalid", String(!fits));
    if (!fits) {
      say("A name has a letter, at most 40 characters and no =, and belongs to one unit.");
      return;
    }
    say("");
    names[place] = name;
    controls[place].named();
    pad.named();
    const changed = main.units.flatMap((unit, at) =>
      names[at] === (unit.name ?? "") ? [] : [quoted(`${unit.unit}=${names[at]}`)]);
    commandLine.hidden = changed.length === 0;
    command.replaceChildren(`unbraid name ${quoted(data.run)} ${changed.join(" ")}`);
  };
  const save = (blob, name) => {
    const address = URL.createObjectURL(blob);
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const namesFile = () => {
    let text = "# Names of latent units; `unbraid name` changes them.\n";
    for (const [kind, prefix] of [["continuous", ""], ["categorical", "category."]]) {
      const own = main.units.map((unit, place) => [unit, names[place]])
        .filter(([unit, name]) => name !== "" && (unit.classes > 0) === (kind === "categorical"))
        .map(([unit, name]) => [Number(unit.unit.slice(prefix.length)), name])
        .sort((one, other) => one[0] - other[0]);
      if (own.length > 0) text += `\n[${kind}]\n`;
      for (const [number, name] of own) text += `${number} = ${JSON.stringify(name)}\n`;
    }
    return text;
  };

  // --- A row of controls for each unit -----------------------------------------------------------------------------------------
  const noteOf = (unit, place) => {
    const words = [...(names[place] ? [unit.label] : []), `KL ${unit.kl === null ? "not finite" : unit.kl.toFixed(2)}`];
    if (unit.factor) words.push(`${unit.factor.name} ${unit.factor.measure} ${unit.factor.value.toFixed(2)}`);
    followers.forEach((model) => {
      const match = model.matches[place];
      words.push(`${model.number}: ${match ? `${match.unit}, r\u00a0${shown(match.correlation)}` : "no match"}`);
    });
    return words.join(" \u00b7 ");
  };
  const unitRow = (unit, place) => {
    const name = element("input", {
      class: "live-name", type: "text", maxlength: "40", value: names[place], placeholder: unit.label,
      "aria-label": `Name of ${unit.label}`, spellcheck: "false", autocomplete: "off",
      change: () => rename(place, name),
    });
    const note = element("p", { class: "faint live-note" }, noteOf(unit, place));
    if (unit.classes) {
      const choices = Array.from({ length: unit.classes }, (_, i) =>
        button(String(i), () => setClass(place, i), { "aria-label": `Class ${i} of ${unit.label}` }));
      controls[place] = {
        show: () => choices.forEach((choice, i) =>
          choice.setAttribute("aria-pressed", String(main.code[unit.column + i] > 0.5))),
        named: () => note.replaceChildren(noteOf(unit, place)),
      };
      return element("div", { class: "live-unit", "data-unit": unit.unit },
        element("div", { class: "live-head" }, name), element("div", { class: "live-classes" }, ...choices), note);
    }
    const value = element("output", {});
    const toggle = button("Play", () => play(place));
    const slider = element("input", {
      type: "range", min: unit.low, max: unit.high, step: (unit.high - unit.low) / 200,
      input: () => {
        stop();
        setUnit(place, Number(slider.value));
      },
      keydown: (event) => {
        if (event.key === " ") play(place);
        else if (event.key === "0") setUnit(place, main.start[unit.column]);
        else return;
        event.preventDefault();
      },
    });
    controls[place] = {
      show: () => {
        slider.value = main.code[unit.column];
        value.replaceChildren(shown(main.code[unit.column]));
        toggle.replaceChildren(playing === place ? "Stop" : "Play");
      },
      named: () => {
        note.replaceChildren(noteOf(unit, place));
        slider.setAttribute("aria-label", titleOf(place));
        toggle.setAttribute("aria-label", `Animate ${titleOf(place)}`);
      },
    };
    controls[place].named();
    return element("div", { class: "live-unit", "data-unit": unit.unit },
      element("div", { class: "live-head" }, name, value, toggle), slider, note);
  };

  // --- A pad for two units ---------------------------------------------------------------------------------------------------
  const continuous = main.units.map((unit, place) => place).filter((place) => !main.units[place].classes);
  const padOf = () => {
    [pad.across, pad.up] = continuous;
    const choice = (axis, words) => {
      const options = continuous.map((place) => element("option", { value: place }));
      const select = element("select", {
        change: () => {
          pad[axis] = Number(select.value);
          pad.show();
        },
      }, ...options);
      return { label: element("label", {}, `${words} `, select), select, options, axis };
    };
    const choices = [choice("across", "across"), choice("up", "up")];
    const dot = element("i");
    const share = (place) => {
      const { low, high, column } = main.units[place];
      return Math.min(1, Math.max(0, (main.code[column] - low) / (high - low)));
    };
    const set = (place, share) => {
      const { low, high } = main.units[place];
      setUnit(place, low + (high - low) * Math.min(1, Math.max(0, share)));
    };
    const drag = (event) => {
      if (event.type === "pointerdown") {
        stop();
        area.setPointerCapture(event.pointerId);
      } else if (!area.hasPointerCapture(event.pointerId)) return;
      const box = area.getBoundingClientRect();
      set(pad.across, (event.clientX - box.left) / box.width);
      set(pad.up, 1 - (event.clientY - box.top) / box.height);
    };
    const area = element("div", {
      class: "live-pad", tabindex: "0", role: "application",
      "aria-label": "Two units at once: drag, or use the arrow keys", pointerdown: drag, pointermove: drag,
      keydown: (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
        if (!step) return;
        event.preventDefault();
        set(pad.across, share(pad.across) + step[0] / 40);
        set(pad.up, share(pad.up) + step[1] / 40);
      },
    }, dot);
    pad.show = () => {
      dot.style.left = `${100 * share(pad.across)}%`;
      dot.style.top = `${100 * (1 - share(pad.up))}%`;
      choices.forEach(({ select, axis }) => (select.value = pad[axis]));
    };
    pad.named = () => choices.forEach(({ options }) =>
      options.forEach((option, i) => option.replaceChildren(titleOf(continuous[i]))));
    pad.named();
    return element("div", { class: "live-two" }, area, element("div", {}, ...choices.map(({ label }) => label)));
  };
  pad.named = () => {};

  // --- Where to start --------------------------------------------------------------------------------------------------------
  const sample = () => {
    stop();
    const row = main.samples[Math.floor(Math.random() * main.samples.length)];
    startFrom([row, ...followers.map((model) => model.middle)]);
    follow();
    models.forEach((model) => (model.start = Float32Array.from(model.code)));
    markStart();
  };
  const encodes = models.every((model) => model.encode !== null);
  const encodeFile = async (file) => {
    if (!encodes) {
      say("The mean of this posterior has no closed form: unbraid encode computes it.");
      return;
    }
    stop();
    let input;
    try {
      input = await view.read(file);
    } catch (error) {
      say(`${file.name}: ${error.message}`);
      return;
    }
    startFrom(models.map((model, place) => model.encode(view.input(place, input))));
    say(`${file.name}, encoded and decoded.`);
  };
  const chooser = element("input", {
    type: "file", accept: view.accept, hidden: "",
    change: () => {
      if (chooser.files.length > 0) encodeFile(chooser.files[0]);
      chooser.value = "";
    },
  });
  const examples = view.starts.map((content, place) =>
    button(content, () => {
      stop();
      startFrom(models.map((model) => model.starts[place]));
    }));
  const holdsFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    root.classList.add("live-over");
  });
  document.addEventListener("dragleave", () => root.classList.remove("live-over"));
  document.addEventListener("drop", (event) => {
    root.classList.remove("live-over");
    if (!holdsFile(event)) return;
    event.preventDefault();
    encodeFile(event.dataTransfer.files[0]);
  });

  // --- What to take along ----------------------------------------------------------------------------------------------------
  const codeOf = (model) => {
    const code = { codes: [Array.from(model.code.subarray(0, model.continuous), (value) => Number(value.toPrecision(7)))] };
    if (model.categorical.length > 0) {
      let first = model.continuous;
      code.categories = [model.categorical.map((classes) => {
        const own = model.code.subarray(first, (first += classes));
        return own.indexOf(Math.max(...own));
      })];
    }
    return { run: model.name, ...code };
  };
  const written = element("textarea", { class: "live-code", rows: "3", readonly: "", hidden: "", "aria-label": "The code as JSON" });
  const copy = async () => {
    const text = JSON.stringify(followers.length > 0 ? models.map(codeOf) : codeOf(main));
    written.value = text;
    try {
      await navigator.clipboard.writeText(text);
      say("The code is in the clipboard.");
    } catch {
      // A browser that keeps pages from disk away from the clipboard: the text can be copied by hand.
      written.hidden = false;
      written.select();
      say("Copy the code below.");
    }
  };

  // --- The panel -------------------------------------------------------------------------------------------------------------
  const rowsOfUnits = main.units.map(unitRow);
  const used = main.units.map((unit) => unit.kl === null || unit.kl > 0.01);
  const passive = rowsOfUnits.filter((row, place) => !used[place]);
  const sliders = element("div", { class: "live-units" }, ...rowsOfUnits.filter((row, place) => used[place]));
  if (passive.length > 0) {
    const words = `${passive.length} unused ${passive.length === 1 ? "unit" : "units"} (KL of 0.01 or less)`;
    sliders.append(element("details", { open: passive.length === rowsOfUnits.length ? "" : null },
      element("summary", {}, words), element("div", { class: "live-units" }, ...passive)));
  }
  const stage = element("div", { class: "live-stage" },
    element("div", { class: "live-pictures" }, ...view.parts.map((part, place) =>
      element("figure", {}, part, followers.length > 0 ? element("figcaption", {}, `${models[place].number}: ${models[place].name}`) : ""))),
    ...view.more, speed);
  const starts = element("div", { class: "live-starts" },
    element("h3", {}, "Start from"),
    element("div", { class: data.columns ? "live-buttons" : "live-images" }, ...examples),
    element("div", { class: "live-buttons" },
      button("Middle of the prior", () => {
        stop();
        startFrom(models.map((model) => model.middle));
      }),
      button("Random sample", sample),
      ...(encodes ? [button(view.choose, () => chooser.click()), chooser] : []),
      button("Reset", reset)),
    encodes ? element("p", { class: "faint" }, view.drop) : "");
  const keep = element("div", { class: "live-keep" },
    element("div", { class: "live-buttons" },
      button(view.saveWords, () => view.save(save)),
      button("Copy code as JSON", copy),
      button("Save names (units.toml)", () => save(new Blob([namesFile()], { type: "text/plain" }), "units.toml"))),
    written, commandLine, status);
  root.classList.toggle("live-several", followers.length > 0);
  root.classList.toggle("live-table", Boolean(data.columns));
  root.append(element("div", { class: "live-side" }, stage, starts, keep), element("div", { class: "live-main" }, sliders,
    ...(continuous.length > 1 ? [element("h3", {}, "Two units at once"), padOf()] : []),
    element("p", { class: "faint" },
      "Keys: arrows move a slider or the pad, space plays a unit, 0 takes it back, R resets, S draws a sample.")));
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=text],textarea,select")) return;
    const action = { r: reset, s: sample }[event.key.toLowerCase()];
    if (action) action();
  });
  if (examples.length > 0) startFrom(models.map((model) => model.starts[0]));
  else startFrom(models.map((model) => model.middle));

  // For the console and for tests: the models, and how fast they are.
  window.unbraid = {
    models,
    names: namesFile,
    // Pictures or rows a second, drawn one after the other.
    measure: (pictures) => {
      const began = performance.now();
      for (let i = 0; i < pictures; i += 1) draw();
      return (1000 * pictures) / (performance.now() - began);
    },
  };
})();
