import type { AnyEvent, AnyEventType, EventNeeds, EventOf, EventQueue, Receiver } from '@parley/domain/kernel';
import type { MessagePart } from '../messages/message-parts.js';
import type { PublicRealm } from '../realms/public-realm.js';
import type { EventForm } from './event-forms.js';
import type { SharedText } from './event-texts.js';
import type { QueuePresentation } from './queue-presentation.js';

/** Everything an event's form depends on beside the event. */
export interface EventContext {
  readonly queue: EventQueue;
  readonly presentation: QueuePresentation;
  /** The client can show topics without a name. */
  readonly showsEmptyTopics: boolean;
  readonly publicRealm: PublicRealm;
  readonly receiver: Receiver;
  /** Seen for being public, not for being received. */
  readonly isNotSubscriber: boolean;
  /** What features show with messages. */
  readonly messageParts: MessagePart;
  /** A text that is the same for all clients with this key, and made for the first of them. */
  shared(key: string, make: () => string): SharedText;
}

/**
 * A wire event as JSON text without its `id` and closing brace: the same for many clients, or in pieces of which the long
 * ones are. For each client no more is put together than what differs from the others.
 */
export type WireEvent = SharedText | readonly (SharedText | string)[];

/** What an event becomes for one client: one wire event, mostly; none, or several, for clients that know less. */
export type Presented = SharedText | readonly WireEvent[];

export interface EventPresenter<E> {
  /** What the event may become, of which clients choose types (events §6.7). Empty: nobody receives it. */
  readonly forms: readonly EventForm[];
  /** What is looked up about each receiver beforehand; null: nothing. */
  readonly needs?: (event: E) => EventNeeds | null;
  /** Never waits, never looks anything up. */
  readonly present: (event: E, context: EventContext) => Presented;
}

/** One for each of a feature's events. */
export type Presenters<T extends AnyEventType> = { readonly [K in T]: EventPresenter<EventOf<K>> };

/** An event that no client receives. */
export const toNobody: EventPresenter<AnyEvent> = { forms: [], present: () => [] };

/** An event that has one form for all clients. */
export function toAll<E extends AnyEvent>(
  form: EventForm | readonly [EventForm, ...EventForm[]],
  fields: (event: E) => Readonly<Record<string, unknown>>,
): EventPresenter<E> {
  const forms = 'type' in form ? ([form] as const) : form;
  const { type } = forms[0];
  return {
    forms,
    present: (event, context) => context.shared('', () => opened({ type, ...fields(event) })),
  };
}

/** The text of an object without its closing brace. */
export const opened = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields).slice(0, -1);

/** Made once, since every event of every client asks for one. */
const KEYS = Array.from({ length: 64 }, (_, bits) => String(bits));

/** As a short text: the forms that the same event has differ by it. At most five flags. */
export function keyOf(...flags: readonly boolean[]): string {
  let bits = 1;
  for (const flag of flags) bits = bits * 2 + (flag ? 1 : 0);
  return KEYS[bits]!;
}

/** How the events of all features look to clients. */
export interface EventWriter {
  readonly present: (event: AnyEvent, context: EventContext) => Presented;
  readonly messageParts: MessagePart;
}
