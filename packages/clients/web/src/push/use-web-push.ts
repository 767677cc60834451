import { useCallback } from 'react';
import { useComputed, useServices } from '../services/context.js';
import { useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';
import { permission, requestPermission } from './notifications.js';

/** Notifications of this browser: its permission, and web push if granted and supported by browser and server. */
export function useWebPush() {
  const services = useServices();
  const load = useCallback(() => import('./web-push.js').then(({ openWebPush }) => openWebPush(services)), [services]);
  const allowed = useReading(permission);
  const push = useLoaded(load, allowed === 'granted');
  const state = useComputed(() => push?.state.value ?? null, [push]);
  const turnOn = async () => {
    if (await requestPermission()) await (await load())?.turnOn();
  };
  return { push, state, permission: allowed, turnOn };
}
