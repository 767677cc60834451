import { useEffect } from 'react';
import type { ShownData } from '../services/components.js';
import { useServices } from '../services/context.js';

/** Place for the host's own rendering of a message's data, such as the card of an order. */
export function DataSlot({ messageId, data }: Pick<ShownData, 'messageId' | 'data'>) {
  const { onData } = useServices();
  const slot = `message-${messageId}`;
  useEffect(() => {
    onData?.({ messageId, data, slot });
  }, [onData, messageId, data, slot]);
  return <slot name={slot} />;
}
