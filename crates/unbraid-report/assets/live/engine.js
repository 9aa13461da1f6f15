"use strict";
// The networks of a model on typed arrays. Images are rows of pixels, each with its channels side by side; a fully connected
// layer is a convolution of an image of one pixel. Batch normalisation is part of the weights that the page was given.
const unbraidEngine = (() => {
  const bytesOf = (text) => {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
    return bytes.buffer;
  };

  // IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  };
  let halves = null;
  const allHalves = () => (halves ??= Float32Array.from({ length: 65536 }, (_, bits) => half(bits)));

  // For each pixel of the output, the pixels of the input that it is a sum of, and the tap of the kernel for each.
  const planOf = ({ transposed, input, output, kernel, stride, padding }) => {
    const [height, width, channels] = input;
    const starts = new Int32Array(output[0] * output[1] + 1);
    const offsets = [];
    const taps = [];
    // The row or column of the input that tap `tap` of output `place` reads, if there is one.
    const source = (place, tap, size) => {
      const at = transposed ? (place + padding - tap) / stride : place * stride - padding + tap;
      return Number.isInteger(at) && at >= 0 && at < size ? at : -1;
    };
    for (let y = 0, pixel = 0; y < output[0]; y += 1) {
      for (let x = 0; x < output[1]; x += 1, pixel += 1) {
        for (let i = 0; i < kernel[0]; i += 1) {
          const row = source(y, i, height);
          for (let j = 0; row >= 0 && j < kernel[1]; j += 1) {
            const column = source(x, j, width);
            if (column < 0) continue;
            offsets.push((row * width + column) * channels);
            taps.push(i * kernel[1] + j);
          }
        }
        starts[pixel + 1] = offsets.length;
      }
    }
    return { starts, offsets: Int32Array.from(offsets), taps: Int32Array.from(taps) };
  };

  // A layer with its weights, read from `reader` in the order in which they were written: the biases, for bytes the scale of
  // each output, and for each output the weights of its taps and channels.
  const layerOf = (table, precision, reader) => {
    const [channels, outputs] = [table.input[2], table.output[2]];
    const [taps, blocks] = [table.kernel[0] * table.kernel[1], Math.ceil(outputs / 4)];
    const count = outputs * taps * channels;
    const biases = new Float32Array(reader(4 * outputs));
    let value;
    if (precision === "int8") {
      const scales = new Float32Array(reader(4 * outputs));
      const whole = new Int8Array(reader(count));
      value = (place, output) => whole[place] * scales[output];
    } else {
      const [bits, table] = [new Uint16Array(reader(2 * count)), allHalves()];
      value = (place) => table[bits[place]];
    }
    // Four outputs side by side, so that their sums stay in registers while each input is read once.
    const weights = new Float32Array(4 * blocks * taps * channels);
    const bias = new Float32Array(4 * blocks);
    bias.set(biases);
    let place = 0;
    for (let output = 0; output < outputs; output += 1) {
      const [block, lane] = [output >> 2, output & 3];
      for (let tap = 0; tap < taps; tap += 1) {
        let to = (tap * blocks + block) * channels * 4 + lane;
        for (let channel = 0; channel < channels; channel += 1, place += 1, to += 4) {
          weights[to] = value(place, output);
        }
      }
    }
    const size = table.output[0] * table.output[1] * outputs;
    return { ...table, ...planOf(table), blocks, weights, bias, values: new Float32Array(size) };
  };

  const activations = {
    none: null,
    relu: (x) => (x > 0 ? x : 0),
    tanh: Math.tanh,
    sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  };
  const activationOf = ({ activation, slope }) =>
    activation === "leaky-relu" ? (x) => (x > 0 ? x : slope * x) : activations[activation];

  const sums = (layer, values) => {
    const { starts, offsets, taps, blocks, weights, bias } = layer;
    const [channels, outputs, result] = [layer.input[2], layer.output[2], layer.values];
    for (let pixel = 0, to = 0; pixel + 1 < starts.length; pixel += 1, to += outputs) {
      const [from, end] = [starts[pixel], starts[pixel + 1]];
      for (let block = 0; block < blocks; block += 1) {
        const first = 4 * block;
        let a = bias[first];
        let b = bias[first + 1];
        let c = bias[first + 2];
        let d = bias[first + 3];
        for (let entry = from; entry < end; entry += 1) {
          let weight = (taps[entry] * blocks + block) * channels * 4;
          const last = offsets[entry] + channels;
          for (let place = offsets[entry]; place < last; place += 1, weight += 4) {
            const value = values[place];
            a += value * weights[weight];
            b += value * weights[weight + 1];
            c += value * weights[weight + 2];
            d += value * weights[weight + 3];
          }
        }
        result[to + first] = a;
        if (first + 1 < outputs) result[to + first + 1] = b;
        if (first + 2 < outputs) result[to + first + 2] = c;
        if (first + 3 < outputs) result[to + first + 3] = d;
      }
    }
    return result;
  };

  // The output belongs to the network until it runs again.
  const run = (layers, values) => {
    for (const layer of layers) {
      values = sums(layer, values);
      if (layer.activate) for (let i = 0; i < values.length; i += 1) values[i] = layer.activate(values[i]);
    }
    return values;
  };

  // A model from its description and the base64 of its weights.
  const load = (model, text) => {
    const buffer = bytesOf(text);
    let at = 0;
    const reader = (count) => buffer.slice(at, (at += count));
    const network = (tables) =>
      tables.map((table) => ({ ...layerOf(table, model.precision, reader), activate: activationOf(table) }));
    const encoder = model.encoder === null ? null : network(model.encoder);
    const decoder = network(model.decoder);
    return {
      // An image from the values of all units.
      decode: (code) => run(decoder, Float32Array.from(code)),
      // The values of all units from an image: posterior means, and the most likely class of each categorical unit. Null for a
      // posterior whose mean is not a function that the page has.
      encode: encoder && ((image) => {
        const code = Float32Array.from(run(encoder, image));
        let first = model.continuous;
        for (const classes of model.categorical) {
          const logits = code.subarray(first, first + classes);
          const best = logits.indexOf(Math.max(...logits));
          logits.fill(0);
          logits[best] = 1;
          first += classes;
        }
        return code;
      }),
    };
  };

  // A picture (RGBA bytes) as an image of the model's size, as `unbraid encode --image` makes it: blended with white, cropped
  // about its centre to the right aspect ratio, and resized with a triangle filter that is as wide as a pixel of the result.
  // Every sum is rounded to single precision, as the command does, so that pixels halfway between two bytes become the same.
  const single = Math.fround;
  const filtersOf = (from, to) => {
    const ratio = single(from / to);
    const reach = Math.max(ratio, 1);
    return Array.from({ length: to }, (_, place) => {
      const centre = single(single(place + 0.5) * ratio);
      const first = Math.min(Math.max(Math.floor(single(centre - reach)), 0), from - 1);
      const end = Math.min(Math.max(Math.ceil(single(centre + reach)), first + 1), from);
      const shares = Float32Array.from({ length: end - first }, (_, i) => {
        const away = Math.abs(single(single(first + i - single(centre - 0.5)) / reach));
        return away < 1 ? 1 - away : 0;
      });
      const total = shares.reduce((sum, share) => single(sum + share), 0);
      return { first, shares: shares.map((share) => share / total) };
    });
  };
  // The luma of sRGB.
  const luma = (red, green, blue) => Math.round(0.2126 * red + 0.7152 * green + 0.0722 * blue);
  // With a mask, it is the silhouette of what is in front of white: where the picture is darker than 250 of 255, and where that
  // is at least half of a pixel of the result.
  const resized = ({ data, width, height }, [rows, columns, channels], mask) => {
    const cropWidth = Math.max(1, Math.min(width, Math.floor((height * columns) / rows)));
    const cropHeight = Math.max(1, Math.min(height, Math.floor((width * rows) / columns)));
    const [left, top] = [(width - cropWidth) >> 1, (height - cropHeight) >> 1];
    const blended = (place, channel) => {
      const alpha = data[place + 3];
      return Math.floor((data[place + channel] * alpha + 255 * (255 - alpha) + 127) / 255);
    };
    const silhouette = (place) => (luma(...[0, 1, 2].map((channel) => blended(place, channel))) < 250 ? 255 : 0);
    const onWhite = mask ? silhouette : blended;
    const tall = new Float32Array(rows * cropWidth * 3);
    filtersOf(cropHeight, rows).forEach(({ first, shares }, row) => {
      shares.forEach((share, i) => {
        let from = ((top + first + i) * width + left) * 4;
        let to = row * cropWidth * 3;
        for (let column = 0; column < cropWidth; column += 1, from += 4, to += 3) {
          for (let channel = 0; channel < 3; channel += 1) {
            tall[to + channel] += single(share * onWhite(from, channel));
          }
        }
      });
    });
    const across = filtersOf(cropWidth, columns);
    const image = new Float32Array(rows * columns * channels);
    for (let row = 0, to = 0; row < rows; row += 1) {
      for (const { first, shares } of across) {
        const pixel = new Float32Array(3);
        shares.forEach((share, i) => {
          const from = (row * cropWidth + first + i) * 3;
          for (let channel = 0; channel < 3; channel += 1) pixel[channel] += single(share * tall[from + channel]);
        });
        const [red, green, blue] = pixel.map(Math.round);
        const grey = luma(red, green, blue);
        for (const value of channels === 3 ? [red, green, blue] : [mask ? 255 * (grey >= 128) : grey]) {
          image[to] = value / 255;
          to += 1;
        }
      }
    }
    return image;
  };

  return { load, resized };
})();
