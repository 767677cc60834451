import type { AnyEvent, AnyEventType, EventCatalogue } from '@parley/domain/kernel';
import {
  type EventPresenter,
  type EventWriter,
  type QueuePresentation,
  wantsAnyOf,
} from './delivery/event-presenter.js';
import { EVENT_PRESENTERS, MESSAGE_PARTS } from './features.js';

/** The cast is safe: each presenter is looked up by the type of the event that it receives. */
const presenterOf = (type: AnyEventType): EventPresenter<AnyEvent> =>
  EVENT_PRESENTERS[type] as unknown as EventPresenter<AnyEvent>;

const wireTypes = new Map<AnyEventType, readonly string[]>();

function wireTypesOf(type: AnyEventType): readonly string[] {
  let types = wireTypes.get(type);
  if (!types) {
    types = [...new Set(presenterOf(type).forms.map((form) => form.type))];
    wireTypes.set(type, types);
  }
  return types;
}

const isWhole: EventCatalogue['isWhole'] = ({ conversations }) => conversations === undefined;

/** Event metadata required for delivery. */
export const EVENT_CATALOGUE: EventCatalogue = {
  wants: (presentation, type) =>
    wantsAnyOf(presentation, wireTypesOf(type)) && (isWhole(presentation) || presenterOf(type).forTokens !== undefined),
  isWhole,
  needsOf(event, presentation) {
    const { needs, located } = presenterOf(event.type);
    const conversations = (presentation as Partial<QueuePresentation>).conversations;
    if (!conversations || !located) return needs?.(event) ?? null;
    return { ...needs?.(event), within: { conversations, messageIds: located(event) } };
  },
};

export const EVENT_WRITER: EventWriter = {
  present: (event, context) => presenterOf(event.type).present(event, context),
  limit: (event, within) => presenterOf(event.type).forTokens?.(event, within) ?? null,
  messageParts: MESSAGE_PARTS,
};
