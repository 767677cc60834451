import type { EventQueue } from '@parley/domain';
import type { ClientVariant } from '../routing/client-variant.js';

/** How a queue's client wants its events; kept with the queue as plain JSON. */
export interface QueuePresentation {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  /** Those it has (events §2), ascending. */
  readonly capabilities: readonly string[];
  readonly client: ClientVariant['key'];
  /** Two clients of the same key get byte for byte the same of whatever does not depend on the person. */
  readonly key: string;
}

export function queuePresentation(
  wishes: Omit<QueuePresentation, 'key' | 'capabilities'> & {
    readonly capabilities: Readonly<Record<string, boolean | undefined>>;
  },
): QueuePresentation {
  const capabilities = Object.keys(wishes.capabilities)
    .filter((name) => wishes.capabilities[name] === true)
    .sort();
  const { applyMarkdown, clientGravatar, slimPresence, client } = wishes;
  const flags = [applyMarkdown, clientGravatar, slimPresence].map(Number).join('');
  return {
    applyMarkdown,
    clientGravatar,
    slimPresence,
    capabilities,
    client,
    key: `${flags}:${client}:${capabilities.join()}`,
  };
}

/** Of a queue that an adapter like this one has registered. */
export const presentationOf = (queue: EventQueue): QueuePresentation =>
  queue.presentation as unknown as QueuePresentation;

export const can = (presentation: QueuePresentation, capability: string): boolean =>
  presentation.capabilities.includes(capability);
