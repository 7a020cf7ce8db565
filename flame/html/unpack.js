// unpack reads what pack.go wrote into an element: the head, and the tree as typed arrays.
async function unpack(element) {
  "use strict";
  let bytes = fromBase64(element.textContent);
  if (element.dataset.packed === "deflate") bytes = await decompressed(bytes);
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size, part = 0;
  const next = () => {
    const from = at;
    at += head.bytes[part++];
    return bytes.subarray(from, at);
  };
  const n = head.nodes, level = new Int32Array(n), frame = new Int32Array(n).fill(-1);
  const ups = readNumbers(next(), n - 1), numbers = readNumbers(next(), n - 1);
  for (let i = 1; i < n; i++) {
    level[i] = level[i - 1] + 1 - ups[i - 1];
    frame[i] = numbers[i - 1];
  }
  for (const column of head.columns) {
    column.parts = [next(), next()];
    if (head.time) column.times = [next(), next(), next()];
  }
  return { head, level, frame };
}

// ownValues returns what a column has of each node's own.
function ownValues(column, n) {
  "use strict";
  const own = new Float64Array(n), gaps = readNumbers(column.parts[0]), values = readNumbers(column.parts[1]);
  let node = 0;
  for (let i = 0; i < gaps.length; i++) {
    node += gaps[i];
    own[node] = values[i] * column.factor;
  }
  return own;
}

// ownValuesIn returns what a column has of each node's own in the slices of time from one up to another.
function ownValuesIn(column, n, from, to) {
  "use strict";
  column.timed = column.timed || column.times.map((bytes) => readNumbers(bytes));
  const own = new Float64Array(n), [gaps, slices, values] = column.timed;
  let node = 0;
  for (let i = 0; i < gaps.length; i++) {
    node += gaps[i];
    if (slices[i] >= from && slices[i] < to) own[node] += values[i] * column.factor;
  }
  return own;
}

// readNumbers reads numbers of seven bits a byte, the lowest first, the last byte without its eighth bit.
function readNumbers(bytes, count) {
  "use strict";
  if (count === undefined) {
    count = 0;
    for (const b of bytes) if (b < 128) count++;
  }
  const numbers = new Float64Array(count);
  for (let at = 0, i = 0; i < count; i++) {
    let value = 0, place = 1, b;
    do {
      b = bytes[at++];
      value += (b & 127) * place;
      place *= 128;
    } while (b > 127);
    numbers[i] = value;
  }
  return numbers;
}

function fromBase64(text) {
  "use strict";
  text = text.trim();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function decompressed(bytes) {
  "use strict";
  if (typeof DecompressionStream === "undefined") return inflate(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// inflate is for browsers without DecompressionStream (RFC 1951).
function inflate(data) {
  "use strict";
  const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
  const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  let out = new Uint8Array(4 * data.length + 1024), size = 0, at = 0, hold = 0, held = 0;

  function bits(n) {
    while (held < n) {
      hold |= data[at++] << held;
      held += 8;
    }
    const value = hold & ((1 << n) - 1);
    hold >>>= n;
    held -= n;
    return value;
  }

  // A code is how many symbols have each length, and the symbols in the order of their codes.
  function code(lengths) {
    const count = new Uint16Array(16), begin = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    for (const l of lengths) count[l]++;
    count[0] = 0;
    for (let l = 1; l < 16; l++) begin[l] = begin[l - 1] + count[l - 1];
    lengths.forEach((l, symbol) => { if (l) symbols[begin[l]++] = symbol; });
    return { count, symbols };
  }

  function symbol({ count, symbols }) {
    let value = 0, first = 0, index = 0;
    for (let l = 1; l < 16; l++) {
      value |= bits(1);
      if (value - first < count[l]) return symbols[index + value - first];
      index += count[l];
      first = (first + count[l]) << 1;
      value <<= 1;
    }
    throw new Error("the profile in this page is damaged");
  }

  function put(n) {
    if (size + n <= out.length) return;
    const larger = new Uint8Array(2 * out.length + n);
    larger.set(out.subarray(0, size));
    out = larger;
  }

  function stored() {
    hold = held = 0;
    const n = data[at] | data[at + 1] << 8;
    at += 4;
    put(n);
    out.set(data.subarray(at, at + n), size);
    size += n;
    at += n;
  }

  function dynamic() {
    const literals = bits(5) + 257, distances = bits(5) + 1, used = bits(4) + 4, short = new Array(19).fill(0), lengths = [];
    for (let i = 0; i < used; i++) short[ORDER[i]] = bits(3);
    const lengthCode = code(short);
    while (lengths.length < literals + distances) {
      const s = symbol(lengthCode);
      if (s < 16) lengths.push(s);
      else {
        const what = s === 16 ? lengths[lengths.length - 1] : 0, times = s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7);
        for (let i = 0; i < times; i++) lengths.push(what);
      }
    }
    return [code(lengths.slice(0, literals)), code(lengths.slice(literals))];
  }

  function fixed() {
    const lengths = Array.from({ length: 288 }, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    return [code(lengths), code(new Array(30).fill(5))];
  }

  function block(literal, distance) {
    for (;;) {
      const s = symbol(literal);
      if (s === 256) return;
      put(258);
      if (s < 256) {
        out[size++] = s;
        continue;
      }
      const length = LENGTHS[s - 257] + bits(LENGTH_BITS[s - 257]), d = symbol(distance), extra = d < 4 ? 0 : (d >> 1) - 1;
      const back = d < 4 ? d + 1 : ((2 + (d & 1)) << extra) + 1 + bits(extra);
      for (let i = 0; i < length; i++, size++) out[size] = out[size - back];
    }
  }

  for (let last = 0; !last;) {
    last = bits(1);
    const type = bits(2);
    if (type === 0) stored();
    else block(...type === 1 ? fixed() : dynamic());
  }
  return out.subarray(0, size);
}
