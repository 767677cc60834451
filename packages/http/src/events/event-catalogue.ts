import type { AnyEvent, AnyEventType, EventCatalogue } from '@parley/domain/events';
import { EVENT_PRESENTERS } from '../features.js';
import type { EventContext, EventPresenter, Presented } from './event-presenter.js';
import { wantsAnyOf } from './queue-presentation.js';

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

/** What delivery has to know of events. */
export const EVENT_CATALOGUE: EventCatalogue = {
  wants: (presentation, type) => wantsAnyOf(presentation, wireTypesOf(type)),
  needsOf: (event) => presenterOf(event.type).needs?.(event) ?? null,
};

export const presentEvent = (event: AnyEvent, context: EventContext): Presented =>
  presenterOf(event.type).present(event, context);
