import type { AnyEvent, AnyEventType, EventCatalogue } from '@parley/domain/events';
import { CHANNEL_EVENTS } from '../channels/channel.events.js';
import { GROUP_EVENTS } from '../groups/group.events.js';
import { MESSAGE_EVENTS } from '../messages/message.events.js';
import { TYPING_EVENTS } from '../messages/typing.events.js';
import { REACTION_EVENTS } from '../reactions/reaction.events.js';
import { REALM_EVENTS } from '../realms/realm.events.js';
import { REALM_SETTINGS_EVENTS } from '../realms/realm-settings.events.js';
import { USER_EVENTS } from '../users/user.events.js';
import { USER_SETTINGS_EVENTS } from '../users/user-settings.events.js';
import {
  type EventContext,
  type EventPresenter,
  type Presented,
  type Presenters,
  toNobody,
} from './event-presenter.js';

/** Of every feature. */
const PRESENTERS: Presenters<AnyEventType> = {
  blank: toNobody,
  ...CHANNEL_EVENTS,
  ...GROUP_EVENTS,
  ...MESSAGE_EVENTS,
  ...REACTION_EVENTS,
  ...REALM_EVENTS,
  ...REALM_SETTINGS_EVENTS,
  ...TYPING_EVENTS,
  ...USER_EVENTS,
  ...USER_SETTINGS_EVENTS,
};

const presenterOf = (type: AnyEventType): EventPresenter<AnyEvent> =>
  PRESENTERS[type] as unknown as EventPresenter<AnyEvent>;

/** What delivery has to know of events. */
export const EVENT_CATALOGUE: EventCatalogue = {
  wireTypes: (type) => presenterOf(type).wireTypes,
  needsOf: (event) => presenterOf(event.type).needs?.(event) ?? null,
};

export const presentEvent = (event: AnyEvent, context: EventContext): Presented =>
  presenterOf(event.type).present(event, context);
