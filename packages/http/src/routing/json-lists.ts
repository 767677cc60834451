import { slicesOf } from '@parley/domain/shared';
import type { EncodedTexts } from '../caching/encoded-texts.js';
import type { BodyChunk, WireFields } from './reply.js';

/** Presented at once. */
const ELEMENTS_AT_A_TIME = 20;
/** What is encoded together, where others are sent the same elements: so many, mostly. */
const USUAL_RUN = 50;
const LONGEST_RUN = 4 * USUAL_RUN;
/** Fewer are not worth keeping. */
const SHORTEST_KEPT_RUN = 20;

/**
 * Whether the element with this id is the last one of those encoded together. The elements themselves say it, not their places: so
 * lists that differ in one element differ in one run, and have all others in common.
 */
const endsRun = (id: number): boolean => id % USUAL_RUN === 0;

/** A list that may be long: its elements are presented as they are written. */
export class PresentedList<T> {
  constructor(
    readonly elements: readonly T[],
    readonly present: (element: T) => unknown,
  ) {}
}

/** A list that may be long, and of which many are sent the same elements side by side. An element that changed is another object. */
export class SharedList<T extends { readonly id: number }> {
  constructor(
    readonly elements: readonly T[],
    /** With commas in between. */
    readonly encoded: EncodedTexts<T>,
  ) {}
}

/** A value that is JSON text already. */
export class PresentedText {
  constructor(readonly json: string) {}

  /** Of an object that has fields: the same with more of them behind. */
  with(fields: WireFields): PresentedText {
    const more = JSON.stringify(fields);
    return more === '{}' ? this : new PresentedText(`${this.json.slice(0, -1)},${more.slice(1)}`);
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

function* writeSharedList<T extends { readonly id: number }>(
  { elements, encoded }: SharedList<T>,
  texts: BodyChunk[],
): Generator<void, void> {
  let start = '[';
  for (const run of runsOf(elements, (index) => elements[index]!.id)) {
    texts.push(start, encodedTogether(run, encoded));
    start = ',';
    yield;
  }
  texts.push(elements.length === 0 ? '[]' : ']');
}

/**
 * A JSON array of texts that are kept, of which many are sent the same ones side by side. `idAt`: of the element at this place.
 * `encoded` puts commas in between.
 */
export function encodedList(
  elements: readonly string[],
  idAt: (index: number) => number,
  encoded: EncodedTexts<string>,
): PresentedChunks {
  const chunks: BodyChunk[] = [];
  for (const run of runsOf(elements, idAt)) {
    chunks.push(chunks.length === 0 ? '[' : ',', encodedTogether(run, encoded));
  }
  chunks.push(elements.length === 0 ? '[]' : ']');
  return new PresentedChunks(joined(chunks));
}

function* runsOf<T>(elements: readonly T[], idAt: (index: number) => number): Generator<readonly T[], void> {
  let from = 0;
  for (let next = 1; next <= elements.length; next++) {
    const isInside = next < elements.length && next - from < LONGEST_RUN;
    if (isInside && !endsRun(idAt(next - 1))) continue;
    yield elements.slice(from, next);
    from = next;
  }
}

const encodedTogether = <T>(elements: readonly T[], encoded: EncodedTexts<T>): BodyChunk =>
  elements.length < SHORTEST_KEPT_RUN ? encoded.textOf(elements) : encoded.of(elements);
