import type { Event } from '@parley/client';
import type { ChatState, DefaultListEvent, Fields } from './state.js';

type Element = Readonly<Record<string, unknown>>;

/** True for events of the form that `applyToList` applies. */
export const changesList = (event: Event): event is Extract<Event, { readonly type: DefaultListEvent }> =>
  ['add', 'update', 'remove'].includes((event as { readonly op: string }).op);

/**
 * Applies an event to a list that each user has, as declared by the server's `WireList`: the field of the same name as
 * the event type. `{op: 'add', saved_snippet}` appends an element, `{op: 'add', drafts}` several,
 * `{op: 'update', draft}` replaces one, and `{op: 'remove', draft_id}` removes it. `compare` sorts the list after each
 * change.
 */
export function applyToList<T>(state: ChatState, event: Event, compare?: (a: T, b: T) => number): void {
  const { id: _, type, op, ...content } = event as unknown as Element & { readonly type: keyof Fields };
  const [[name, value]] = Object.entries(content) as [[string, unknown]];
  const idOf = (element: Element) => element[op === 'remove' ? name : `${name}_id`] ?? element.id;
  state.fields.change(type, (list) => {
    const elements = list as unknown as readonly Element[];
    if (op === 'remove') return elements.filter((element) => idOf(element) !== value) as never;
    const isFormer = (element: Element) => op === 'update' && idOf(element) === idOf(value as Element);
    const all = elements.some(isFormer)
      ? elements.map((element) => (isFormer(element) ? value : element))
      : elements.concat(value as Element);
    return (compare ? (all as T[]).sort(compare) : all) as never;
  });
}
