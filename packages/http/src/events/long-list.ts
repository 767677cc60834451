import type { Turns } from '../caching/turns.js';
import { WireText } from '../routing/reply.js';
import { PresentedList, writeSections } from './register-answer.js';

/** An answer that is a list, which may be long: the event loop turns while it is written. `more`: fields in front. */
export async function presentLongList<T>(
  turns: Turns,
  name: string,
  elements: readonly T[],
  present: (element: T) => unknown,
  more: Readonly<Record<string, unknown>> = {},
): Promise<WireText> {
  const fields = { ...more, [name]: new PresentedList(elements, present) };
  return new WireText(await turns.runSteps(writeSections([() => fields])));
}
