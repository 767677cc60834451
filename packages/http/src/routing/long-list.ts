import type { Turns } from '../caching/turns.js';
import { type PresentedList, type SharedList, writeSections } from './json-lists.js';
import { WireText } from './reply.js';

/** An answer that is a list, which may be long: the event loop turns while it is written. `more`: fields in front. */
export async function presentLongList<T, S extends { readonly id: number }>(
  turns: Turns,
  name: string,
  list: PresentedList<T> | SharedList<S>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<WireText> {
  return new WireText(await turns.runSteps(writeSections([() => ({ ...more, [name]: list })])));
}
