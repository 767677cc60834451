import type { AnyEvent, AnyEventType, EventNeeds, EventOf, EventQueue, Receiver } from '@parley/domain/kernel';
import type { MessagePart } from './message-parts.js';
import type { PublicRealm } from './public-realm.js';
import { CLIENT_VARIANTS, type ClientVariant } from './request.js';
import * as wire from './wire-schema.js';

/** A form that events have on the wire (events §7). */
export interface EventForm {
  /** What clients call it. */
  readonly type: string;
  /** All of its fields. */
  readonly schema: wire.WireSchema<object>;
}

/** `shape`: its fields beside `id` and `type`. */
export const form = (type: string, shape: wire.Shape = {}): EventForm => ({
  type,
  schema: wire.fields({ id: wire.integer(), type: wire.oneOf(type), ...shape }),
});

/** What clients get instead that do not have the capability (events §2): `parley/client` does not know it. */
export const formWithout = (capability: string, type: string, shape: wire.Shape): EventForm => ({
  type,
  schema: wire.deprecated(form(type, shape).schema, `For clients without \`${capability}\`.`),
});

/** `property` and `value` of an event about one property of many, once for each kind of value. */
export function propertyForms(
  values: wire.Schemas,
  formOf: (shape: wire.Shape) => EventForm,
): readonly [EventForm, ...EventForm[]] {
  const namesByKind = new Map<string, [name: string, ...others: string[]]>();
  for (const [name, { json }] of Object.entries(values)) {
    const names = namesByKind.get(JSON.stringify(json));
    if (names) names.push(name);
    else namesByKind.set(JSON.stringify(json), [name]);
  }
  const forms = [...namesByKind.values()].map((names) =>
    formOf({ property: wire.oneOf(...names), value: values[names[0]]! }),
  );
  return forms as [EventForm, ...EventForm[]];
}

/** Any event: of each type by a name of its own. */
export function eventSchema(forms: readonly EventForm[]): wire.WireSchema<object> {
  const byType = new Map<string, Map<string, wire.WireSchema<object>>>();
  for (const { type, schema } of forms) {
    const others = byType.get(type) ?? new Map();
    byType.set(type, others.set(JSON.stringify(schema.json), schema));
  }
  const types = [...byType.keys()].sort();
  return wire.named('Event', wire.anyOf(...types.map((type) => schemaOfType(type, [...byType.get(type)!.values()]))));
}

const schemaOfType = (type: string, forms: readonly wire.WireSchema<object>[]): wire.WireSchema<object> =>
  wire.named(eventTypeName(type), forms.length === 1 ? forms[0]! : wire.anyOf(...forms));

/** `RealmUserEvent` of `realm_user`. */
export const eventTypeName = (type: string): string =>
  `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

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

/** A JSON object without `id` and closing brace, as every client gets it that gets the same of an event. */
export class SharedText {
  readonly bytes: number;
  /** The whole object under the id it was given, which is the same for all of them. */
  private whole: { readonly id: number; readonly text: string } | null = null;

  constructor(readonly text: string) {
    this.bytes = Buffer.byteLength(text);
  }

  get length(): number {
    return this.text.length;
  }

  withId(id: number): string {
    if (this.whole?.id !== id) this.whole = { id, text: `${this.text}${endWithId(id)}` };
    return this.whole.text;
  }
}

export const endWithId = (id: number): string => `,"id":${id}}`;

/** Which events a queue's client wants, and how; kept with the queue as plain JSON. */
export interface QueuePresentation {
  /** Those that it wants; null: all. */
  readonly eventTypes: readonly string[] | null;
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  /** Those it has (events §2), ascending. */
  readonly capabilities: readonly string[];
  readonly client: ClientVariant['key'];
}

export function queuePresentation(
  wishes: Omit<QueuePresentation, 'capabilities'> & {
    readonly capabilities: Readonly<Record<string, boolean | undefined>>;
  },
): QueuePresentation {
  const capabilities = Object.keys(wishes.capabilities)
    .filter((name) => wishes.capabilities[name] === true)
    .sort();
  return { ...wishes, capabilities };
}

/** Of a stored queue. Null: it says something that this version does not understand. */
export function presentationOf({ presentation }: EventQueue): QueuePresentation | null {
  const { eventTypes, applyMarkdown, clientGravatar, slimPresence, capabilities, client } = presentation;
  const areFlags = [applyMarkdown, clientGravatar, slimPresence].every((flag) => typeof flag === 'boolean');
  const areNames = isTextList(capabilities) && (eventTypes === null || isTextList(eventTypes));
  const isKnown = CLIENT_VARIANTS.includes(client as ClientVariant['key']);
  // Each of its members was looked at.
  return areFlags && areNames && isKnown ? (presentation as unknown as QueuePresentation) : null;
}

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Whether a stored queue gets events of any of these types. One that cannot be read fails when it is polled. */
export function wantsAnyOf({ eventTypes }: EventQueue['presentation'], types: readonly string[]): boolean {
  return types.length > 0 && (!Array.isArray(eventTypes) || types.some((type) => eventTypes.includes(type)));
}

export const can = (presentation: QueuePresentation, capability: string): boolean =>
  presentation.capabilities.includes(capability);
