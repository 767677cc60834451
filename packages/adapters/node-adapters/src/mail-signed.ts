const CONSTRUCTED_OCTETS = 0x24;
const SIGNED_DATA = '2a864886f70d010702';
const DATA = '2a864886f70d010701';
const MAX_DEPTH = 10;

interface Element {
  readonly tag: number;
  readonly body: Buffer;
  /** Position behind the element. */
  readonly end: number;
}

/** Returns the email in an S/MIME signature (RFC 5652, section 5); null if the file contains none, such as an encrypted one. */
export function signedContent(file: Buffer): Buffer | null {
  try {
    const [type, wrapper] = childrenOf(elementAt(file, 0));
    if (type!.body.toString('hex') !== SIGNED_DATA) return null;
    const [signed] = childrenOf(wrapper!);
    const [, , encapsulated] = childrenOf(signed!);
    const [contentType, content] = childrenOf(encapsulated!);
    if (contentType!.body.toString('hex') !== DATA || !content) return null;
    return octetsOf(childrenOf(content)[0]!);
  } catch {
    return null;
  }
}

/** First elements in another one, more than each structure above has. */
function childrenOf({ body }: Element): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < body.length && found.length < 4; at = found.at(-1)!.end) found.push(elementAt(body, at));
  return found;
}

/** Joins the chunks of which programs with streams make a text. */
function octetsOf({ tag, body }: Element): Buffer {
  if (tag !== CONSTRUCTED_OCTETS) return body;
  const joined = Buffer.alloc(body.length);
  let length = 0;
  for (let at = 0; at < body.length; ) {
    const chunk = elementAt(body, at);
    length += chunk.body.copy(joined, length);
    at = chunk.end;
  }
  return joined.subarray(0, length);
}

/** Reads an element in BER (X.690). @throws Error if it is not complete */
function elementAt(bytes: Buffer, at: number, depth = 0): Element {
  const tag = bytes.readUInt8(at);
  const first = bytes.readUInt8(at + 1);
  let start = at + 2;
  if (first === 0x80) {
    if (depth >= MAX_DEPTH) throw new Error('Nested too deeply');
    let end = start;
    while (bytes.readUInt16BE(end) !== 0) end = elementAt(bytes, end, depth + 1).end;
    return { tag, body: bytes.subarray(start, end), end: end + 2 };
  }
  const sizeLength = Math.max(0, first - 0x80);
  start += sizeLength;
  const end = start + (sizeLength === 0 ? first : bytes.readUIntBE(at + 2, sizeLength));
  if (end > bytes.length) throw new Error('Incomplete');
  return { tag, body: bytes.subarray(start, end), end };
}
