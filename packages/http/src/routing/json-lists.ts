import { slicesOf } from '@parley/domain/shared';
import type { EncodedTexts } from '../caching/encoded-texts.js';
import type { BodyChunk, WireFields } from './reply.js';

/** Presented at once. */
const ELEMENTS_AT_A_TIME = 20;
/** Encoded together, where others are sent the same elements. */
const ENCODED_TOGETHER = 50;

/** A list that may be long: its elements are presented as they are written. */
export class PresentedList<T> {
  constructor(
    readonly elements: readonly T[],
    readonly present: (element: T) => unknown,
  ) {}
}

/** A list that may be long, of elements whose texts are kept: many are sent the same ones side by side. */
export class SharedList<T> {
  constructor(
    readonly elements: readonly T[],
    readonly present: (element: T) => PresentedText,
    /** With commas in between. */
    readonly encoded: EncodedTexts,
  ) {}
}

/** A value that is JSON text already. */
export class PresentedText {
  constructor(readonly json: string) {}

  /** Of an object that has fields: the same with more of them behind. */
  with(fields: WireFields): PresentedText {
    const more = JSON.stringify(fields).slice(1);
    return more === '}' ? this : new PresentedText(`${this.json.slice(0, -1)},${more}`);
  }
}

/** JSON in pieces, some of which others have too. */
export class PresentedChunks {
  constructor(readonly chunks: readonly BodyChunk[]) {}
}

/** The fields of all sections as JSON text, without the braces around them. A step is short, whatever is presented. */
export function* writeSections(sections: Iterable<() => WireFields>): Generator<void, readonly BodyChunk[]> {
  const texts: BodyChunk[] = [];
  for (const present of sections) {
    for (const [name, value] of Object.entries(present())) {
      const key = `${texts.length > 0 ? ',' : ''}${JSON.stringify(name)}:`;
      if (value instanceof PresentedText) texts.push(key, value.json);
      else if (value instanceof PresentedChunks) texts.push(key, ...value.chunks);
      else if (value instanceof PresentedList) {
        texts.push(key);
        yield* writeList(value, texts);
      } else if (value instanceof SharedList) {
        texts.push(key);
        yield* writeSharedList(value, texts);
      } else if (value !== undefined) texts.push(key, JSON.stringify(value));
      yield;
    }
  }
  return joined(texts);
}

/** Texts side by side become one. */
function joined(chunks: readonly BodyChunk[]): readonly BodyChunk[] {
  const result: BodyChunk[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length > 0) result.push(open.join(''));
    open = [];
  };
  for (const chunk of chunks) {
    if (typeof chunk === 'string') open.push(chunk);
    else {
      close();
      result.push(chunk);
    }
  }
  close();
  return result;
}

const jsonOf = (value: unknown): string =>
  value instanceof PresentedText ? value.json : (JSON.stringify(value) ?? 'null');

function* writeList<T>({ elements, present }: PresentedList<T>, texts: BodyChunk[]): Generator<void, void> {
  let start = '[';
  for (const slice of slicesOf(elements, ELEMENTS_AT_A_TIME)) {
    texts.push(start, slice.map((element) => jsonOf(present(element))).join(','));
    start = ',';
    yield;
  }
  texts.push(elements.length === 0 ? '[]' : ']');
}

function* writeSharedList<T>({ elements, present, encoded }: SharedList<T>, texts: BodyChunk[]): Generator<void, void> {
  let start = '[';
  for (const slice of slicesOf(elements, ENCODED_TOGETHER)) {
    const presented = slice.map((element) => present(element).json);
    texts.push(start, encodedTogether(presented, encoded));
    start = ',';
    yield;
  }
  texts.push(elements.length === 0 ? '[]' : ']');
}

/** A JSON array of texts that are kept, of which many are sent the same ones side by side. `encoded` puts commas in between. */
export function encodedList(elements: readonly string[], encoded: EncodedTexts): PresentedChunks {
  const chunks: BodyChunk[] = [];
  for (const slice of slicesOf(elements, ENCODED_TOGETHER)) {
    chunks.push(chunks.length === 0 ? '[' : ',', encodedTogether(slice, encoded));
  }
  chunks.push(elements.length === 0 ? '[]' : ']');
  return new PresentedChunks(joined(chunks));
}

/** Few of them are not worth keeping. */
const encodedTogether = (elements: readonly string[], encoded: EncodedTexts): BodyChunk =>
  elements.length < ENCODED_TOGETHER ? elements.join(',') : encoded.of(elements);
