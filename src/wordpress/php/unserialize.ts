/**
 * Returns the value of PHP's serialized form (`unserialize`), starting at the first byte: arrays with keys 0, 1, 2...
 * as arrays, others as objects; integers beyond 2^53 as bigint. Throws for an invalid form, for PHP objects and
 * references, which are never created, and for a member called `__proto__`.
 */
export function unserialize(text: string): unknown {
  const bytes = Buffer.from(text);
  return valueAt({ bytes, latin: bytes.toString('latin1'), at: 0 });
}

/** The bytes with the position in them. `latin`: one character for each byte, for patterns. */
interface Reader {
  readonly bytes: Buffer;
  readonly latin: string;
  at: number;
}

function valueAt(reader: Reader): unknown {
  const type = reader.latin.charAt(reader.at);
  if (type === 's') return stringAt(reader);
  if (type === 'a') return arrayAt(reader);
  const [, integer, float, flag] = match(reader, SCALAR);
  if (integer !== undefined) return integerOf(integer);
  if (float !== undefined) return FLOATS.get(float) ?? Number(float);
  return flag === undefined ? null : flag === '1';
}

const SCALAR = /N;|i:([+-]?\d+);|d:(NAN|-?INF|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?);|b:([01]);/y;
const FLOATS: ReadonlyMap<string, number> = new Map([
  ['NAN', Number.NaN],
  ['INF', Number.POSITIVE_INFINITY],
  ['-INF', Number.NEGATIVE_INFINITY],
]);

function integerOf(digits: string): number | bigint {
  const number = Number(digits);
  // Without the sum, `-0` would be a negative zero.
  return Number.isSafeInteger(number) ? number + 0 : BigInt(digits.replace('+', ''));
}

function stringAt(reader: Reader): string {
  const [, length] = match(reader, STRING_START);
  const end = reader.at + Number(length);
  const text = reader.bytes.toString('utf8', reader.at, end);
  reader.at = end;
  match(reader, STRING_END);
  return text;
}

const STRING_START = /s:(\d{1,15}):"/y;
const STRING_END = /";/y;

function arrayAt(reader: Reader): unknown {
  const [, count] = match(reader, ARRAY_START);
  const members: [key: string, value: unknown][] = [];
  let isList = true;
  for (let index = 0; index < Number(count); index += 1) {
    const key = String('si'.includes(reader.latin.charAt(reader.at)) ? valueAt(reader) : fault(reader));
    if (key === '__proto__') fault(reader);
    isList &&= key === String(index);
    members.push([key, valueAt(reader)]);
  }
  match(reader, ARRAY_END);
  return isList ? members.map(([, value]) => value) : Object.fromEntries(members);
}

const ARRAY_START = /a:(\d{1,15}):\{/y;
const ARRAY_END = /\}/y;

/** Returns what a pattern matches at the position, and moves behind it. */
function match(reader: Reader, pattern: RegExp): RegExpExecArray {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.latin) ?? fault(reader);
  reader.at = pattern.lastIndex;
  return found;
}

function fault({ at }: Reader): never {
  throw new Error(`Broken at byte ${at}`);
}
