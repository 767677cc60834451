import { slicesOf } from '@parley/domain/shared';
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

/** A value that is JSON text already. */
export class PresentedText {
  constructor(readonly json: string) {}
}

/** The fields of all sections as JSON text, without the braces around them. A step is short, whatever is presented. */
export function* writeSections(sections: Iterable<() => WireFields>): Generator<void, string> {
  const texts: string[] = [];
  for (const present of sections) {
    for (const [name, value] of Object.entries(present())) {
      const key = `${texts.length > 0 ? ',' : ''}${JSON.stringify(name)}:`;
      if (value instanceof PresentedText) texts.push(key, value.json);
      else if (value instanceof PresentedList) {
        texts.push(key);
        yield* writeList(value, texts);
      } else if (value !== undefined) texts.push(key, JSON.stringify(value));
      yield;
    }
  }
  return texts.join('');
}

function* writeList<T>({ elements, present }: PresentedList<T>, texts: string[]): Generator<void, void> {
  let start = '[';
  for (const slice of slicesOf(elements, ELEMENTS_AT_A_TIME)) {
    texts.push(start, JSON.stringify(slice.map((element) => present(element))).slice(1, -1));
    start = ',';
    yield;
  }
  texts.push(elements.length === 0 ? '[]' : ']');
}
