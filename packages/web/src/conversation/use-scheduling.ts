import { Scheduling } from '@parley/chat';
import { useMemo } from 'react';
import { useServices } from '../services/context.js';

export function useScheduling(): Scheduling {
  const { chat, client } = useServices();
  return useMemo(() => new Scheduling(chat.state, client), [chat, client]);
}
