import type { RealmEventTypes } from '@parley/domain/realms';
import { opened, type Presenters, toNobody } from '../events/event-presenter.js';

export const REALM_EVENTS = {
  'realm.deactivated': {
    wireTypes: ['realm'],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
  'realm.limits_forgotten': toNobody,
} satisfies Presenters<keyof RealmEventTypes>;
