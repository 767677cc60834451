import type { MessageRow, Narrow } from '@parley/chat';
import { useEffect } from 'react';
import { useServices } from '../services/context.js';
import type { ShownData } from '../services/element-types.js';
import { type DataKind, type HostData, useObjectData } from '../services/host-data.js';
import styles from './data-slot.module.css';

interface Props {
  readonly message: MessageRow;
}

/** Place for the host's own rendering of a message's data, such as the card of an order. */
export const MessageSlot = ({ message: { id, data } }: Props) =>
  id !== null && data && <DataSlot data={data} slot={`message-${id}`} messageId={id} />;

/** Place for the data of the sender, after the name above a message. */
export function SenderSlot({ message: { id, sender } }: Props) {
  const data = useWantedData('user', sender.id);
  return id !== null && data && <DataSlot data={data} slot={`sender-${id}`} userId={sender.id} messageId={id} />;
}

/** Place for the data of the opened channel, above its messages. */
export function ChannelSlot({ narrow }: { readonly narrow: Narrow }) {
  const operand = narrow.find(({ operator, negated }) => operator === 'channel' && !negated)?.operand;
  const channelId = typeof operand === 'number' ? operand : null;
  const data = useWantedData('channel', channelId);
  if (channelId === null || !data) return null;
  return (
    <div className={styles.channel}>
      <DataSlot data={data} slot={`channel-${channelId}`} channelId={channelId} />
    </div>
  );
}

/** Data that the element's attribute names; null if there is none. */
function useWantedData(kind: DataKind, id: number | null): HostData | null {
  const { dataOf, tokens } = useServices();
  // Tokens for conversations do not include the operation.
  const isWanted = !tokens?.scope && dataOf?.split(' ').includes(kind);
  const data = useObjectData(kind, isWanted ? id : null);
  return data && Object.keys(data).length > 0 ? data : null;
}

function DataSlot(shown: ShownData) {
  const { onData } = useServices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the slot has the ids.
  useEffect(() => {
    onData?.(shown);
  }, [onData, shown.data, shown.slot]);
  return <slot name={shown.slot} />;
}
