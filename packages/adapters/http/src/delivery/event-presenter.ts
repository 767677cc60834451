import {
  type AnyEvent,
  type AnyEventType,
  type EventNeeds,
  type EventOf,
  type EventQueue,
  firstOf,
  getOrThrow,
  type MessageId,
  type Place,
  type Receiver,
  type TokenScope,
} from '@parley/domain/kernel';
import type { EditHistoryVisibility, MessageView } from '@parley/domain/messages';
import type { WireFields } from '../wire/reply.js';
import { CLIENT_VARIANTS, type ClientVariant } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import type { EventRealm } from './public-realm.js';

/** Wire format of an event (events §7). */
export interface EventForm {
  /** Wire type of the event. */
  readonly type: string;
  /** Schema of all fields. */
  readonly schema: wire.WireSchema<object>;
}

/** @param shape fields besides `id` and `type` */
export const form = (type: string, shape: wire.Shape = {}): EventForm => ({
  type,
  schema: wire.fields({ id: wire.integer(), type: wire.oneOf(type), ...shape }),
});

/** Format for clients without a capability (events §2); omitted from `parley/client`. */
export const formWithout = (capability: string, type: string, shape: wire.Shape): EventForm => ({
  type,
  schema: wire.deprecated(form(type, shape).schema, `For clients without \`${capability}\`.`),
});

/** Returns one event format per kind of property value. */
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

/** Schema of any event, with a named schema per event type. */
export function eventSchema(forms: readonly EventForm[]): wire.WireSchema<object> {
  const byType = new Map<string, Map<string, wire.WireSchema<object>>>();
  for (const { type, schema } of forms) {
    const others = byType.get(type) ?? new Map();
    byType.set(type, others.set(JSON.stringify(schema.json), schema));
  }
  const types = [...byType.keys()].sort();
  return wire.named(
    'Event',
    wire.anyOf(...types.map((type) => schemaOfType(type, [...getOrThrow(byType, type).values()]))),
  );
}

const schemaOfType = (type: string, forms: readonly wire.WireSchema<object>[]): wire.WireSchema<object> =>
  wire.named(eventTypeName(type), forms.length === 1 ? firstOf(forms) : wire.anyOf(...forms));

/** Returns a schema name, for example `RealmUserEvent` for `realm_user`. */
export const eventTypeName = (type: string): string =>
  `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** Inputs of message parts besides the message. */
export interface PartForm {
  readonly client: ClientVariant;
  readonly allowEmptyTopicName: boolean;
  /** Edit history policy of the organization. */
  readonly editHistory: EditHistoryVisibility;
}

/** Fields that a feature adds to messages. */
export interface MessagePart {
  /** Fields of the message object (messages §2). */
  readonly present: (view: MessageView, form: PartForm) => WireFields;
  /**
   * True if the fields of this message differ between clients; absent means never. Must be false for a newly sent
   * message.
   */
  readonly differsByClient?: (view: MessageView) => boolean;
  /** True if the fields contain the empty topic, which is named differently per client; absent means never. */
  readonly differsByTopicName?: (view: MessageView) => boolean;
}

/** Merges several parts. */
export const joinParts = (parts: readonly MessagePart[]): Required<MessagePart> => ({
  present: (view, form) => Object.assign({}, ...parts.map((part) => part.present(view, form))),
  differsByClient: (view) => parts.some((part) => part.differsByClient?.(view) ?? false),
  differsByTopicName: (view) => parts.some((part) => part.differsByTopicName?.(view) ?? false),
});

/** Inputs of an event presenter besides the event. */
export interface EventContext {
  readonly queue: EventQueue;
  readonly presentation: QueuePresentation;
  /** True if the client can show empty topic names. */
  readonly showsEmptyTopics: boolean;
  readonly publicRealm: EventRealm;
  readonly receiver: Receiver;
  /** True if the receiver sees the event only because the channel is public. */
  readonly isNotSubscriber: boolean;
  /** Fields that features add to messages. */
  readonly messageParts: MessagePart;
  /** Returns the text shared by all clients with the same key; created on first use. */
  shared(key: string, make: () => string): SharedText;
}

/**
 * Wire event as JSON text without `id` and closing brace, either shared entirely or in pieces. Long pieces are shared;
 * only pieces that differ per client are created again.
 */
export type WireEvent = SharedText | readonly (SharedText | string)[];

/** Wire events for one client: usually one; older clients may get none or several. */
export type Presented = SharedText | readonly WireEvent[];

export interface EventPresenter<E> {
  /** Possible wire formats, from which clients choose types (events §6.7); empty if no client receives the event. */
  readonly forms: readonly EventForm[];
  /** Receiver data to load in advance; null if none is needed. */
  readonly needs?: (event: E) => EventNeeds | null;
  /**
   * Returns the event as shown to a caller with a token for these conversations; null if it is hidden. Absent for
   * events that such callers never receive.
   */
  readonly forTokens?: (event: E, within: Within) => AnyEvent | null;
  /** Messages that `forTokens` asks for. */
  readonly located?: (event: E) => readonly MessageId[];
  /** Synchronous; loads nothing. */
  readonly present: (event: E, context: EventContext) => Presented;
}

/** Conversations of a token. */
export interface Within {
  readonly has: (place: Place) => boolean;
  /** True if the message is in the conversations at the moment; only for messages of `located`. */
  readonly hasMessage: (id: MessageId) => boolean;
}

/** Locations of a message's events, which have no other information about the conversation. */
export const locatedBy = <E>(idOf: (event: E) => MessageId) => ({
  located: (event: E) => [idOf(event)],
  forTokens: (event: E, within: Within) => (within.hasMessage(idOf(event)) ? event : null),
});

/** One presenter per event of a feature. */
export type Presenters<T extends AnyEventType> = { readonly [K in T]: EventPresenter<EventOf<K>> };

/** Presenter of events that no client receives. */
export const toNobody: EventPresenter<AnyEvent> = { forms: [], present: () => [] };

/** Presents an event in the same form for all clients. */
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

/** Returns the JSON of an object without its closing brace. */
export const opened = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields).slice(0, -1);

/** Precomputed, because each event needs a key for each client. */
const KEYS = Array.from({ length: 64 }, (_, bits) => String(bits));

/** Encodes flags as a short key that distinguishes the forms of an event. Accepts at most five flags. */
export function keyOf(...flags: readonly boolean[]): string {
  let bits = 1;
  for (const flag of flags) bits = bits * 2 + (flag ? 1 : 0);
  return KEYS[bits]!;
}

/** Presentation of the events of all features. */
export interface EventWriter {
  readonly present: (event: AnyEvent, context: EventContext) => Presented;
  /** See `EventPresenter.forTokens`. */
  readonly limit: (event: AnyEvent, within: Within) => AnyEvent | null;
  readonly messageParts: MessagePart;
}

/** JSON object without `id` and closing brace, shared by all clients that receive the same format of an event. */
export class SharedText {
  readonly bytes: number;
  /** Complete object with its latest id, which all these clients share. */
  private whole: { readonly id: number; readonly text: string } | null = null;
  private framed: { readonly id: number; readonly bytes: Buffer } | null = null;

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

  /** Returns the event in the given frame, encoded once for all streams that send it. */
  frame(id: number, frameOf: (id: number, text: string) => Buffer): Buffer {
    if (this.framed?.id !== id) this.framed = { id, bytes: frameOf(id, this.withId(id)) };
    return this.framed.bytes;
  }
}

export const endWithId = (id: number): string => `,"id":${id}}`;

/** Event selection and presentation settings of a queue, stored with it as plain JSON. */
export interface QueuePresentation {
  /** Requested event types; null for all. */
  readonly eventTypes: readonly string[] | null;
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  /** Client capabilities (events §2), ascending. */
  readonly capabilities: readonly string[];
  readonly client: ClientVariant['key'];
  /** Present if the queue was opened with a token for these conversations. */
  readonly conversations?: TokenScope['conversations'];
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

/** Parses the settings of a stored queue; null if this version does not understand them. */
export function presentationOf({ presentation }: EventQueue): QueuePresentation | null {
  const {
    conversations = [],
    eventTypes,
    applyMarkdown,
    clientGravatar,
    slimPresence,
    capabilities,
    client,
  } = presentation;
  const areFlags = [applyMarkdown, clientGravatar, slimPresence].every((flag) => typeof flag === 'boolean');
  const areNames = isTextList(capabilities) && (eventTypes === null || isTextList(eventTypes));
  const isVariant = CLIENT_VARIANTS.includes(client as ClientVariant['key']);
  // All members were validated above.
  return areFlags && areNames && isVariant && Array.isArray(conversations)
    ? (presentation as unknown as QueuePresentation)
    : null;
}

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');

/** True if a stored queue receives any of these types. Unreadable queues count as receivers; their polls fail. */
export function wantsAnyOf({ eventTypes }: EventQueue['presentation'], types: readonly string[]): boolean {
  return types.length > 0 && (!Array.isArray(eventTypes) || types.some((type) => eventTypes.includes(type)));
}

export const can = (presentation: QueuePresentation, capability: string): boolean =>
  presentation.capabilities.includes(capability);
