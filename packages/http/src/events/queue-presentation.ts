import type { EventQueue } from '@parley/domain/events';
import { CLIENT_VARIANTS, type ClientVariant } from '../routing/client-variant.js';

/** How a queue's client wants its events; kept with the queue as plain JSON. */
export interface QueuePresentation {
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
  const { applyMarkdown, clientGravatar, slimPresence, capabilities, client } = presentation;
  const areFlags = [applyMarkdown, clientGravatar, slimPresence].every((flag) => typeof flag === 'boolean');
  const areNames = Array.isArray(capabilities) && capabilities.every((name) => typeof name === 'string');
  const isKnown = CLIENT_VARIANTS.includes(client as ClientVariant['key']);
  return areFlags && areNames && isKnown ? (presentation as unknown as QueuePresentation) : null;
}

export const can = (presentation: QueuePresentation, capability: string): boolean =>
  presentation.capabilities.includes(capability);
