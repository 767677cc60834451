import { slicesOf } from '@parley/domain/shared';
import { TextChunks } from '../caching/text-chunks.js';
import type { WireFields } from '../routing/reply.js';

/** Presented at once. */
const ELEMENTS_AT_A_TIME = 20;

/** A list that may be long: its elements are presented as they are written. */
export class PresentedList<T> {
  constructor(
    readonly elements: readonly T[],
    readonly present: (element: T) => unknown,
  ) {}
}

/** A list of which each element is JSON text already. */
export const presentedList = (texts: readonly string[]): PresentedList<string> =>
  new PresentedList(texts, (text) => new PresentedText(text));

/** A value that is JSON text already. */
export class PresentedText {
  constructor(readonly json: string) {}

  /** Of an object that has fields: the same with more of them behind. */
  with(fields: WireFields): PresentedText {
    const more = JSON.stringify(fields).slice(1, -1);
    return more === '' ? this : this.withText(more);
  }

  /** The same of fields that are JSON text already, without braces. */
  withText(fields: string): PresentedText {
    return new PresentedText(`${this.json.slice(0, -1)},${fields}}`);
  }
}

/**
 * The fields of all sections as JSON text, without the braces around them; in chunks, so that what is long is never copied as a
 * whole. A step is short, whatever is presented.
 */
export function* writeSections(sections: Iterable<() => WireFields>): Generator<void, readonly string[]> {
  const texts = new TextChunks();
  for (const present of sections) {
    for (const [name, value] of Object.entries(present())) {
      if (value === undefined) continue;
      texts.add(`${texts.length > 0 ? ',' : ''}${JSON.stringify(name)}:`);
      if (value instanceof PresentedList) yield* writeList(value, texts);
      else texts.addOwn(jsonOf(value));
      yield;
    }
  }
  return texts.finish();
}

const jsonOf = (value: unknown): string =>
  value instanceof PresentedText ? value.json : (JSON.stringify(value) ?? 'null');

function* writeList<T>({ elements, present }: PresentedList<T>, texts: TextChunks): Generator<void, void> {
  texts.add('[');
  let separator = '';
  for (const slice of slicesOf(elements, ELEMENTS_AT_A_TIME)) {
    for (const element of slice) {
      texts.add(separator);
      texts.add(jsonOf(present(element)));
      separator = ',';
    }
    yield;
  }
  texts.add(']');
}
