import { useEffect, useRef } from 'react';
import { useChat, useComputed } from '../services/context.js';
import { useReading } from '../services/use-reading.js';

/** Loads messages that rows show. Failed requests are repeated when the connection returns. */
export function useMessages(ids: readonly number[]): void {
  const chat = useChat();
  const key = ids.join();
  const missing = useComputed(
    () => key.split(',').filter((id) => id !== '' && !chat.state.messages.has(Number(id))),
    [chat, key],
  ).join();
  const { state } = useReading(chat.connection);
  const requested = useRef(new Set<number>());
  useEffect(() => {
    const wanted = missing
      .split(',')
      .map(Number)
      .filter((id) => id > 0 && !requested.current.has(id));
    if (wanted.length === 0 || state !== 'online') return;
    for (const id of wanted) requested.current.add(id);
    // Rows without words are still useful.
    const end = () => {
      for (const id of wanted) requested.current.delete(id);
    };
    chat.loadMessages(wanted).then(end, end);
  }, [chat, missing, state]);
}
