import { slicesOf } from '@parley/domain/kernel';
import type { YieldingScheduler } from '../limits/yielding.js';
import type { EncodedTexts } from '../wire/caches.js';
import { type BodyChunk, type WireFields, WireText } from '../wire/reply.js';

/** Elements presented per step. */
const ELEMENTS_AT_A_TIME = 20;
/** Usual, maximum and minimum number of shared elements encoded together. */
const USUAL_RUN = 50;
const LONGEST_RUN = 4 * USUAL_RUN;
const SHORTEST_RUN = 20;

/** Potentially long list; its elements are presented while it is written. */
export class PresentedList<T> {
  constructor(
    readonly elements: readonly T[],
    readonly present: (element: T) => unknown,
  ) {}
}

/** List sent to many clients; adjacent elements are encoded once for all of them. */
export class SharedList<T extends { readonly id: number }> {
  constructor(
    readonly elements: readonly T[],
    /** Returns JSON; must return the same string object for an unchanged element. */
    readonly textOf: (element: T, index: number) => string,
    /** Must join texts by commas. */
    readonly encoded: EncodedTexts,
  ) {}
}

/** Value that is already JSON text. */
export class PresentedText {
  constructor(readonly json: string) {}

  /** Appends fields to the object, which must not be empty. */
  with(fields: WireFields): PresentedText {
    const more = JSON.stringify(fields);
    return more === '{}' ? this : new PresentedText(`${this.json.slice(0, -1)},${more.slice(1)}`);
  }
}

/** Presents one potentially long list in steps. `more`: fields before the list. */
export async function presentLongList<T, S extends { readonly id: number }>(
  scheduler: YieldingScheduler,
  name: string,
  list: PresentedList<T> | SharedList<S>,
  more: WireFields = {},
): Promise<WireText> {
  return new WireText(await scheduler.runSteps(writeSections([() => ({ ...more, [name]: list })])));
}

/** Writes the fields of all sections as JSON text without enclosing braces, in short steps. */
export function* writeSections(sections: Iterable<() => WireFields>): Generator<void, readonly BodyChunk[]> {
  const chunks: BodyChunk[] = [];
  for (const present of sections) {
    for (const [name, value] of Object.entries(present())) {
      if (value === undefined) continue;
      chunks.push(`${chunks.length > 0 ? ',' : ''}${JSON.stringify(name)}:`);
      if (value instanceof PresentedList) yield* writeList(writeElements(value), chunks);
      else if (value instanceof SharedList) yield* writeList(writeRuns(value), chunks);
      else chunks.push(jsonOf(value));
      yield;
    }
  }
  return joinTexts(chunks);
}

const jsonOf = (value: unknown): string =>
  value instanceof PresentedText ? value.json : (JSON.stringify(value) ?? 'null');

function* writeList(parts: Iterable<BodyChunk>, chunks: BodyChunk[]): Generator<void, void> {
  let separator = '[';
  for (const part of parts) {
    chunks.push(separator, part);
    separator = ',';
    yield;
  }
  chunks.push(separator === '[' ? '[]' : ']');
}

function* writeElements<T>({ elements, present }: PresentedList<T>): Generator<string, void> {
  for (const slice of slicesOf(elements, ELEMENTS_AT_A_TIME)) {
    yield slice.map((element) => jsonOf(present(element))).join(',');
  }
}

/** Ends runs by element id, so that lists which differ in one element differ in one run. */
function* writeRuns<T extends { readonly id: number }>({
  elements,
  textOf,
  encoded,
}: SharedList<T>): Generator<BodyChunk, void> {
  let run: string[] = [];
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index]!;
    run.push(textOf(element, index));
    const isEnd = element.id % USUAL_RUN === 0 || run.length === LONGEST_RUN || index === elements.length - 1;
    if (!isEnd) continue;
    yield run.length < SHORTEST_RUN ? encoded.join(run) : encoded.encode(run);
    run = [];
  }
}

/** Joins adjacent strings but keeps shared buffers separate. */
function joinTexts(chunks: readonly BodyChunk[]): readonly BodyChunk[] {
  const result: BodyChunk[] = [];
  let texts: string[] = [];
  const close = () => {
    if (texts.length > 0) result.push(texts.join(''));
    texts = [];
  };
  for (const chunk of chunks) {
    if (typeof chunk === 'string') texts.push(chunk);
    else {
      close();
      result.push(chunk);
    }
  }
  close();
  return result;
}
