import type { Chat } from '@parley/chat';
import { useEffect } from 'react';
import { useField, useServices } from './context.js';

/** Maximum channels of which topics are requested together. */
const MAX_CHANNELS = 100;

/** Channels of which topics were requested; events of the same queue keep them current. */
const requested = new WeakMap<Chat, { readonly queueId: string; readonly channelIds: Set<number> }>();

/** Requests the topics of those channels that were not opened yet, one channel after the other. */
export function useUnopenedTopics(channelIds: readonly number[]): void {
  const { chat } = useServices();
  const queueId = useField('queue_id');
  const key = channelIds.join();
  useEffect(() => {
    let isOver = false;
    const last = requested.get(chat);
    const known = last?.queueId === queueId ? last.channelIds : new Set<number>();
    requested.set(chat, { queueId, channelIds: known });
    const load = async () => {
      const ids = key.split(',').map(Number);
      for (const id of ids.filter((each) => each > 0 && !known.has(each)).slice(0, MAX_CHANNELS)) {
        if (isOver) return;
        await chat.loadTopics(id);
        known.add(id);
      }
    };
    // Known topics are offered even if the request fails.
    load().catch(() => {});
    return () => {
      isOver = true;
    };
  }, [chat, key, queueId]);
}
