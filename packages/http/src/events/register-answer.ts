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

  /** Of an object that has fields: the same with more of them behind. */
  with(fields: WireFields): PresentedText {
    const more = JSON.stringify(fields).slice(1);
    return more === '}' ? this : new PresentedText(`${this.json.slice(0, -1)},${more}`);
  }
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

const jsonOf = (value: unknown): string =>
  value instanceof PresentedText ? value.json : (JSON.stringify(value) ?? 'null');

function* writeList<T>({ elements, present }: PresentedList<T>, texts: string[]): Generator<void, void> {
  let start = '[';
  for (const slice of slicesOf(elements, ELEMENTS_AT_A_TIME)) {
    texts.push(start, slice.map((element) => jsonOf(present(element))).join(','));
    start = ',';
    yield;
  }
  texts.push(elements.length === 0 ? '[]' : ']');
}
