import { useCallback } from 'react';
import { useComputed, useServices } from '../services/context.js';
import { useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';
import { permission, requestPermission } from './notifications.js';

/** Notifications of this browser: its permission, and web push where browser and server have it. */
export function useWebPush() {
  const services = useServices();
  const load = useCallback(() => import('./web-push.js').then(({ openWebPush }) => openWebPush(services)), [services]);
  const push = useLoaded(load);
  const state = useComputed(() => push?.state.value ?? null, [push]);
  const turnOn = async () => {
    if (await requestPermission()) await push?.turnOn();
  };
  return { push, state, permission: useReading(permission), turnOn };
}
