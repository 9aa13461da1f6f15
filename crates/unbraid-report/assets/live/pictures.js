// What a page shows of models of images: a canvas for each.
const unbraidPictures = ({ data, models, element }) => {
  const [rows, columns, channels] = data.shape;
  const canvases = models.map((model) =>
    element("canvas", { width: columns, height: rows, role: "img", "aria-label": `Decoded by ${model.name}` }));
  return {
    thing: "picture",
    parts: canvases,
    show: (place, values) => {
      const context = canvases[place].getContext("2d");
      const picture = context.createImageData(columns, rows);
      for (let pixel = 0; pixel < rows * columns; pixel += 1) {
        for (let channel = 0; channel < 3; channel += 1) {
          const value = values[pixel * channels + (channels === 3 ? channel : 0)];
          picture.data[4 * pixel + channel] = Math.round(255 * Math.min(1, Math.max(0, value)));
        }
        picture.data[4 * pixel + 3] = 255;
      }
      context.putImageData(picture, 0, 0);
    },
    // Where the models started has no place in a picture.
    started: null,
    starts: data.images.map(({ source, label }) =>
      element("img", { src: source, alt: label, width: columns, height: rows })),
    more: [],
    accept: "image/*",
    choose: "Your picture\u2026",
    drop: "Or drop a picture onto the page.",
    // The file as an input of the encoders; an error has words for the reader.
    read: async (file) => {
      let picture;
      try {
        picture = await createImageBitmap(file);
      } catch {
        throw new Error("not a picture that this browser can read.");
      }
      if (Math.min(picture.width, picture.height) < data.crop) {
        throw new Error(`smaller than the ${data.crop} x ${data.crop} pixels that the model sees of a picture.`);
      }
      // The part that the data set was cut out of, or all of it.
      const part = data.crop ? [data.crop, data.crop] : [picture.width, picture.height];
      const corner = [(picture.width - part[0]) >> 1, (picture.height - part[1]) >> 1];
      // Photographs of many megapixels are reduced by the browser first.
      const scale = Math.min(1, 2048 / Math.max(...part));
      const size = part.map((side) => Math.max(1, Math.round(side * scale)));
      const context = element("canvas", { width: size[0], height: size[1] }).getContext("2d");
      context.drawImage(picture, ...corner, ...part, 0, 0, ...size);
      return unbraidEngine.resized(context.getImageData(0, 0, ...size), data.shape, data.mask);
    },
    input: (place, image) => image,
    saveWords: "Save PNG",
    save: (keep) => {
      const [gap, width] = [2, canvases.length * (columns + 2) - 2];
      const sheet = element("canvas", { width, height: rows });
      canvases.forEach((canvas, place) => sheet.getContext("2d").drawImage(canvas, place * (columns + gap), 0));
      sheet.toBlob((blob) => keep(blob, `${data.run}.png`));
    },
  };
};
