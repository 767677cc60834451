import type { HostDataEventTypes } from '@parley/domain/kernel';
import type { HttpFeature } from '../declarations/feature.js';
import { type Presenters, toNobody } from '../delivery/event-presenter.js';

/** Only the host application receives its data. */
export const HOST_DATA = {
  events: { 'data.changed': toNobody } satisfies Presenters<keyof HostDataEventTypes>,
} satisfies HttpFeature;
