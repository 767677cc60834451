import type { Event } from '@parley/client';
import type { ChatState, DefaultListEvent, Fields } from './state.js';

type Element = Readonly<Record<string, unknown>>;

/** True for events of the form that `applyToList` applies. */
export const changesList = (event: Event): event is Extract<Event, { readonly type: DefaultListEvent }> =>
  'op' in event && (event.op === 'add' || event.op === 'update' || event.op === 'remove');

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
    if (op === 'update' && !compare) {
      const changed = value as Element;
      return elements.map((element) => (idOf(element) === idOf(changed) ? changed : element)) as never;
    }
    const changed = (name === type ? value : [value]) as readonly Element[];
    const others = op === 'add' ? elements : elements.filter((element) => idOf(element) !== idOf(changed[0]!));
    const all = [...others, ...changed] as unknown as T[];
    return (compare ? all.sort(compare) : all) as never;
  });
}
