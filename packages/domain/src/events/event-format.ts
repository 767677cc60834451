import type { EventSeq, MessageId, RealmId, UnixSeconds } from '../shared/ids.js';
import { parseAudience } from './audience.js';
import type { DomainEvent, DomainEventType } from './event.js';
import type { Announcement, LoggedEvent } from './event-log.js';

/**
 * In which shape each type of event is stored. A change after which this version's events cannot be read by an older one,
 * or the other way round, raises its type's number: queues that would have to read such an event register again.
 */
const FORMATS: Readonly<Record<DomainEventType, number>> = {
  blank: 1,
  'message.sent': 3,
  'message.flag_changed': 1,
  'channel.created': 1,
  'channel.hidden': 1,
  'channel.property_changed': 1,
  'subscription.added': 1,
  'subscription.removed': 1,
  'channel.subscribers_changed': 1,
  'default_channels.changed': 1,
  'topic.policy_changed': 1,
  'user.created': 2,
  'user.setting_changed': 1,
  'user.time_zone_changed': 1,
  'user.email_visibility_changed': 1,
  'user.name_changed': 1,
  'realm.name_changed': 1,
  'realm.setting_changed': 1,
  'realm.authentication_changed': 1,
  'realm.permission_changed': 1,
  'realm.user_default_changed': 1,
  'user.role_changed': 1,
  'user.activation_changed': 1,
  'user.access_changed': 1,
  'user.credentials_changed': 1,
  'realm.deactivated': 1,
  'group.created': 1,
  'group.members_changed': 1,
  'group.subgroups_changed': 1,
  'group.activation_changed': 1,
};

/** An event as storage keeps it. */
export interface EncodedEvent {
  readonly format: number;
  /** JSON, both. */
  readonly payload: string;
  readonly audience: string;
}

export interface EncodedRow extends EncodedEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly at: UnixSeconds;
  readonly quotes: MessageId | null;
}

export const encodeEvent = ({ event, audience }: Pick<Announcement, 'event' | 'audience'>): EncodedEvent => ({
  format: FORMATS[event.type],
  payload: JSON.stringify(event),
  audience: JSON.stringify(audience),
});

/** What is left of an event whose content is gone. */
export const BLANK_EVENT: EncodedEvent = encodeEvent({ event: { type: 'blank' }, audience: { kind: 'nobody' } });

/** Never throws: what cannot be read says so. */
export function decodeEvent({ realmId, seq, at, quotes, ...encoded }: EncodedRow): LoggedEvent {
  const audience = parseAudience(parseJson(encoded.audience));
  const unreadable = (reason: string): LoggedEvent => ({ realmId, seq, at, audience, reason });
  const event = parseJson(encoded.payload) as Partial<DomainEvent> | null | undefined;
  const type = event?.type;
  if (type === undefined) return unreadable('its payload is damaged');
  if (!Object.hasOwn(FORMATS, type)) return unreadable(`its type, ${String(type).slice(0, 60)}, is unknown`);
  if (encoded.format !== FORMATS[type]) return unreadable(`format ${encoded.format} of ${type} is unknown`);
  if (!audience) return unreadable('its audience is damaged');
  return { realmId, seq, at, quotes, audience, event: event as DomainEvent };
}

/** Undefined where the text is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
