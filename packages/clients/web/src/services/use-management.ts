import { Management } from '@parley/chat';
import { useMemo } from 'react';
import { useServices } from './context.js';

export function useManagement(): Management {
  const { chat, client } = useServices();
  return useMemo(() => new Management(chat.state, client), [chat, client]);
}
