import { firstOf } from '@parley/domain/kernel';
import { messageOf, sourceError } from './source-error.js';

/** Element of a JSON array, or line of a JSONL file. */
export type JsonElement = ParsedElement | DamagedElement;

export interface ParsedElement {
  readonly line: number;
  /** Length of the JSON. */
  readonly size: number;
  readonly value: unknown;
}

/** Text that is not valid JSON, such as the rest of a truncated file. */
export interface DamagedElement {
  readonly line: number;
  readonly text: string;
  /** Reason without position. */
  readonly damage: string;
}

export interface JsonLimits {
  /** Bytes of one element. */
  readonly maxBytes: number;
  /** Nesting of arrays and objects. */
  readonly maxDepth: number;
}

/** Messages of all sources are smaller by far; V8 and the converters recurse into nested values. */
export const JSON_LIMITS: JsonLimits = { maxBytes: 32 * 1024 ** 2, maxDepth: 100 };

/**
 * Streams the elements of a JSON array. Other values are a single element. An element that is not valid JSON is returned
 * as damaged, and so is a truncated end.
 * @throws DomainError INVALID_IMPORT for elements beyond the limits
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  file: string,
  limits = JSON_LIMITS,
): AsyncGenerator<JsonElement> {
  const splitter = new ElementSplitter(file, limits);
  const failure = yield* split(chunks, splitter);
  yield* splitter.end(failure);
}

/**
 * Streams an object with a large array as a member: first the members before it, with the array empty, then the elements
 * of the array. Members after it are left out. An object without the array is a single element.
 * @throws DomainError INVALID_IMPORT for elements beyond the limits
 */
export async function* jsonMember(
  chunks: AsyncIterable<Buffer>,
  name: string,
  file: string,
  limits = JSON_LIMITS,
): AsyncGenerator<JsonElement> {
  const splitter = new ElementSplitter(file, limits, name);
  const failure = yield* split(chunks, splitter);
  yield* splitter.end(failure);
}

/** Streams the lines of a JSONL file, without blank lines. @throws DomainError INVALID_IMPORT for lines beyond the limits */
export async function* jsonLines(
  chunks: AsyncIterable<Buffer>,
  file: string,
  limits = JSON_LIMITS,
): AsyncGenerator<JsonElement> {
  const splitter = new LineSplitter(file, limits);
  const failure = yield* split(chunks, splitter);
  yield* splitter.end(failure);
}

/** Yields what precedes an unreadable place, and returns the reason why reading ended there. */
async function* split(
  chunks: AsyncIterable<Buffer>,
  splitter: ElementSplitter | LineSplitter,
): AsyncGenerator<JsonElement, string | null> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await iterator.next().catch((error) => `cannot be read completely (${messageOf(error)})`);
      if (typeof next === 'string') return next;
      if (next.done) return null;
      yield* splitter.add(next.value);
    }
  } finally {
    await iterator.return?.();
  }
}

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const COMMA = 0x2c;
/** Longer keys are none that a reader looks for. */
const MAX_KEY = 64;

/** Bytes of an element across chunks. */
class Pieces {
  private parts: Buffer[] = [];
  private size = 0;
  line = 1;

  constructor(
    private readonly file: string,
    private readonly limits: JsonLimits,
  ) {}

  add(part: Buffer): void {
    this.size += part.length;
    if (this.size > this.limits.maxBytes)
      throw sourceError(this.file, this.line, `a record is larger than ${this.limits.maxBytes} bytes`);
    this.parts.push(part);
  }

  /** Returns the bytes and starts the next element. */
  take(): Buffer {
    const bytes = this.parts.length === 1 ? firstOf(this.parts) : Buffer.concat(this.parts);
    this.parts = [];
    this.size = 0;
    return bytes;
  }
}

class ElementSplitter {
  private readonly pieces: Pieces;
  private line = 1;
  private depth = 0;
  /** Greatest depth within the element. */
  private deepest = 0;
  private isInString = false;
  private isEscaped = false;
  /** True after a line feed in a string. */
  private isAfterLine = false;
  /** True after the first byte of an element. */
  private isOpen = false;
  /** Depth of elements: 1 in an array, 2 in a member, 0 in a file with another value. Null before the first byte. */
  private level: number | null = null;
  private isOver = false;
  /** Last bytes of strings of an object, to recognize the key of the member. */
  private key = '';

  constructor(
    file: string,
    private readonly limits: JsonLimits,
    /** Array that contains the elements, as a member of an object. */
    private readonly member: string | null = null,
  ) {
    this.pieces = new Pieces(file, limits);
  }

  *add(chunk: Buffer): Generator<JsonElement> {
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]!;
      if (byte === LINE_FEED) this.line++;
      if (this.isInString && (byte === LINE_FEED || this.isAfterLine)) this.endOpenString(byte);
      if (this.isInString) {
        if (this.level === 0 && this.member !== null) this.key = (this.key + String.fromCharCode(byte)).slice(-MAX_KEY);
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isInString = false;
        continue;
      }
      if (SPACE.has(byte)) continue;
      if (this.level === null) {
        // A byte order mark.
        if (byte === 0xef || byte === 0xbb || byte === 0xbf) continue;
        this.level = byte === 0x5b ? 1 : 0;
        start = index + this.level;
        if (this.level === 1) {
          this.depth = 1;
          continue;
        }
      }
      if (byte === 0x5b && this.level === 0 && this.depth === 1 && this.key === `${this.member}"`) {
        this.pieces.add(chunk.subarray(start, index));
        this.pieces.add(Buffer.from('[]}'));
        yield* this.flush();
        start = index + 1;
        this.level = ++this.depth;
        continue;
      }
      if (this.depth === this.level && !this.isOver && (byte === COMMA || CLOSING.has(byte)) && this.level > 0) {
        this.pieces.add(chunk.subarray(start, index));
        start = index + 1;
        yield* this.flush();
        if (byte !== COMMA) this.isOver = true;
        continue;
      }
      if (!this.isOpen) {
        this.isOpen = true;
        this.pieces.line = this.line;
      }
      if (byte === QUOTE) {
        this.isInString = true;
        this.key = '';
      } else if (OPENING.has(byte)) this.deepest = Math.max(this.deepest, ++this.depth);
      else if (CLOSING.has(byte)) this.depth--;
    }
    if (this.level !== null) this.pieces.add(chunk.subarray(start));
  }

  /**
   * Ends a string after a line feed, which strings do not contain, if the next line begins with a key or a bracket. The
   * end of the string is missing then, and only this element is damaged.
   */
  private endOpenString(byte: number): void {
    this.isAfterLine = SPACE.has(byte);
    if (byte !== QUOTE && !CLOSING.has(byte)) return;
    this.isInString = false;
    this.isEscaped = false;
  }

  private *flush(): Generator<JsonElement> {
    const bytes = this.pieces.take();
    if (this.isOpen) yield parse(bytes, this.pieces.line, this.isTooDeep());
    this.isOpen = false;
    this.deepest = 0;
  }

  private isTooDeep(): boolean {
    return this.deepest > this.limits.maxDepth;
  }

  /** Returns the rest. */
  *end(failure: string | null): Generator<JsonElement> {
    const { isOpen } = this;
    const { line } = this.pieces;
    const rest = this.pieces.take();
    if (this.level === 0 && failure === null) yield parse(rest, line, this.isTooDeep());
    else if (this.level === null && failure === null) yield { line: 1, text: '', damage: 'is empty' };
    else if (isOpen || !this.isOver || failure !== null) {
      if (this.isOver && this.member !== null && failure === null) return;
      const damage = failure ?? (this.isOver ? 'has text after its end' : 'ends too early');
      yield { line, text: rest.toString('utf8'), damage };
    }
  }
}

class LineSplitter {
  private readonly pieces: Pieces;

  constructor(
    file: string,
    private readonly limits: JsonLimits,
  ) {
    this.pieces = new Pieces(file, limits);
  }

  *add(chunk: Buffer): Generator<JsonElement> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.pieces.add(chunk.subarray(start, end));
      start = end + 1;
      yield* this.flush();
      this.pieces.line++;
    }
    this.pieces.add(chunk.subarray(start));
  }

  private *flush(): Generator<JsonElement> {
    const bytes = this.pieces.take();
    if (bytes.some((byte) => !SPACE.has(byte))) yield parse(bytes, this.pieces.line, false, this.limits.maxDepth);
  }

  *end(failure: string | null): Generator<JsonElement> {
    if (failure === null) yield* this.flush();
    else yield { line: this.pieces.line, text: this.pieces.take().toString('utf8'), damage: failure };
  }
}

/** Parses an element. Omitting `maxDepth` means that the caller has measured the depth. */
function parse(bytes: Buffer, line: number, isTooDeep: boolean, maxDepth = Number.POSITIVE_INFINITY): JsonElement {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const damaged = (damage: string): DamagedElement => ({ line, text, damage });
  if (isTooDeep) return damaged('is nested too deeply');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the error contains text of the export.
    return damaged('is not valid JSON');
  }
  return maxDepth < Number.POSITIVE_INFINITY && isDeeper(value, maxDepth)
    ? damaged('is nested too deeply')
    : { line, size: text.length, value };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
