// What a page shows of models of tables: the columns of the decoded row, in standard deviations from their means, beside those
// that it started from.
const unbraidFeatures = ({ data, models, element }) => {
  const MOST_ROWS = 40;
  const names = data.columns.names;
  // A value in the units of the table, written to about a hundredth of its standard deviation.
  const inUnits = (model, column, value) => model.features[column][0] + model.features[column][1] * value;
  const written = (model, column, value) => {
    const digits = 2 - Math.floor(Math.log10(model.features[column][1]));
    const text = Math.abs(value) < 1e12 ? value.toFixed(Math.min(20, Math.max(0, digits))) : value.toPrecision(6);
    // Rounded to zero, a number has no sign.
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
  };
  const signed = (text) => (/[1-9]/.test(text) && !text.startsWith("\u2212") ? `+${text}` : text);

  // The axis reaches as far as 99 in 100 values of the rows and samples of the page, and at least two standard deviations. The
  // rest is drawn at its ends: in a column that hardly ever varies, a rare value is twenty deviations away.
  const everywhere = Float32Array.from(models.flatMap((model) =>
    [model.middle, ...model.starts, ...model.samples].flatMap((code) => Array.from(model.decode(code), Math.abs))));
  const sorted = everywhere.filter(Number.isFinite).sort();
  const reach = Math.max(2, Math.ceil(sorted[Math.floor(0.99 * sorted.length)] ?? 2));
  const percent = (value) => (50 * (Math.min(reach, Math.max(-reach, value)) + reach)) / reach;

  // One table for each model; `chosen` are the columns that they show.
  let chosen = data.columns.order.slice(0, MOST_ROWS);
  const tables = models.map((model) => {
    const body = element("tbody");
    const words = { tabindex: "0", role: "region", "aria-label": `Decoded by ${model.name}` };
    const part = element("div", { class: "live-features", ...words },
      element("table", {},
        element("thead", {}, element("tr", {},
          element("th", { scope: "col" }, "column"),
          element("th", { scope: "col", class: "live-axis", title: "Standard deviations from the mean of the column" },
            ...[-reach, 0, reach].map((value) => element("span", {}, String(value).replace("-", "\u2212")))),
          element("th", { scope: "col", class: "number" }, "value"),
          element("th", { scope: "col", class: "number" }, "change"))),
        body));
    return { part, body, values: Float32Array.from(names, () => 0), from: Float32Array.from(names, () => 0), rows: [] };
  });
  const fill = (place) => {
    const table = tables[place];
    table.rows = chosen.map((column) => {
      const [was, way, now] = ["live-was", "live-way", "live-now"].map((name) => element("i", { class: name }));
      const [value, change] = [0, 1].map(() => element("td", { class: "number" }));
      const row = element("tr", {}, element("th", { scope: "row", title: names[column] }, names[column]),
        element("td", { class: "live-track", "aria-hidden": "true" }, was, way, now), value, change);
      return { column, row, was, way, now, value, change };
    });
    table.body.replaceChildren(...table.rows.map(({ row }) => row));
  };
  const draw = (place) => {
    const [model, { rows, values, from }] = [models[place], tables[place]];
    for (const { column, was, way, now, value, change } of rows) {
      const [before, after] = [percent(from[column]), percent(values[column])];
      was.style.left = `${before}%`;
      now.style.left = `${after}%`;
      way.style.left = `${Math.min(before, after)}%`;
      way.style.width = `${Math.abs(after - before)}%`;
      value.replaceChildren(written(model, column, inUnits(model, column, values[column])));
      change.replaceChildren(signed(written(model, column, model.features[column][1] * (values[column] - from[column]))));
    }
  };
  const refill = () => tables.forEach((_, place) => {
    fill(place);
    draw(place);
  });

  // A table with more columns than fit has a field to find the others by.
  const found = element("span", { class: "faint" });
  const search = element("input", {
    type: "text", "aria-label": "Show columns whose name contains", placeholder: "Find columns", spellcheck: "false",
    autocomplete: "off",
    input: () => {
      const wanted = search.value.trim().toLowerCase();
      const all = data.columns.order.filter((column) => names[column].toLowerCase().includes(wanted));
      chosen = all.slice(0, MOST_ROWS);
      found.replaceChildren(`${chosen.length} of ${all.length}`);
      refill();
    },
  });
  found.replaceChildren(`${chosen.length} of ${names.length}`);
  tables.forEach((_, place) => fill(place));

  // The first row of a CSV with a header, by the names of its columns; cells may be in quotes.
  const cellsOf = (line, separator) => {
    const cells = [""];
    let inQuotes = false;
    for (let i = 0; i < line.length; i += 1) {
      if (line[i] === '"' && inQuotes && line[i + 1] === '"') {
        cells[cells.length - 1] += '"';
        i += 1;
      } else if (line[i] === '"') inQuotes = !inQuotes;
      else if (line[i] === separator && !inQuotes) cells.push("");
      else cells[cells.length - 1] += line[i];
    }
    return cells.map((cell) => cell.trim());
  };
  const rowOf = (text) => {
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
    const [header, first] = lines.filter((line) => line.trim() !== "");
    if (first === undefined) throw new Error("expected a CSV with a header and a row.");
    // The one that the header has most of, as the command has it.
    const count = (letter) => header.split(letter).length;
    const separator = [",", ";", "\t"].reduce((best, letter) => (count(letter) > count(best) ? letter : best));
    const [titles, cells] = [cellsOf(header, separator), cellsOf(first, separator)];
    return Float64Array.from(names, (name) => {
      const place = titles.indexOf(name);
      if (place < 0) throw new Error(`no column ${name} in it.`);
      const cell = cells[place] ?? "";
      if (cell === "" || !Number.isFinite(Number(cell))) {
        throw new Error(`column ${name}: found ${cell || "nothing"}, expected a number.`);
      }
      return Number(cell);
    });
  };

  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return {
    thing: "row",
    parts: tables.map(({ part }) => part),
    show: (place, values) => {
      tables[place].values.set(values);
      draw(place);
    },
    started: (place, values) => tables[place].from.set(values),
    starts: data.rows.map(({ label, index }) => element("span", { title: `--index ${index}` }, label)),
    more: names.length > MOST_ROWS ? [element("p", { class: "live-search" }, search, " ", found)] : [],
    accept: ".csv,.tsv,.txt,text/csv,text/tab-separated-values",
    choose: "Your row\u2026",
    drop: "Or drop a CSV onto the page: its first row.",
    read: async (file) => {
      if (file.size > 1e8) throw new Error("larger than 100 MB: cut out the row.");
      return rowOf(await file.text());
    },
    // Each model has standardised the columns by the rows that it was trained on.
    input: (place, row) => Float32Array.from(row, (value, column) => {
      const [mean, deviation] = models[place].features[column];
      return (value - mean) / deviation;
    }),
    saveWords: "Save CSV",
    save: (keep) => {
      const several = models.length > 1;
      const lines = [[...(several ? ["run"] : []), "column", "start", "value", "change"].join(",")];
      tables.forEach(({ values, from }, place) => names.forEach((name, column) => {
        const [start, value] = [from[column], values[column]].map((at) => inUnits(models[place], column, at));
        const run = several ? [quoted(models[place].name)] : [];
        lines.push([...run, quoted(name), start, value, value - start].join(","));
      }));
      keep(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }), `${data.run}.csv`);
    },
  };
};
