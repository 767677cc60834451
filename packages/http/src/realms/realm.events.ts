import type { RealmEventTypes } from '@parley/domain';
import { opened, type Presenters } from '../events/event-presenter.js';

export const REALM_EVENTS = {
  'realm.deactivated': {
    wireTypes: ['realm'],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
} satisfies Presenters<keyof RealmEventTypes>;
