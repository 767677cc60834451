import type { EventQueue } from '@parley/domain/kernel';
import { CLIENT_VARIANTS, type ClientVariant } from '../kernel/client-variant.js';

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
