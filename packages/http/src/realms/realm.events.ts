import type { RealmEventTypes } from '@parley/domain/realms';
import { presentRealmImage, REALM_IMAGES } from '../branding/realm-image-urls.js';
import { opened, type Presenters, toNobody } from '../events/event-presenter.js';

export const REALM_EVENTS = {
  'realm.deactivated': {
    wireTypes: ['realm'],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
  'realm.image_changed': {
    wireTypes: ['realm'],
    present: ({ name, image }, context) =>
      context.shared('', () => {
        const data = presentRealmImage(name, image, context.publicRealm);
        return opened({ type: 'realm', op: 'update_dict', property: REALM_IMAGES[name].wireName, data });
      }),
  },
  'realm.limits_forgotten': toNobody,
} satisfies Presenters<keyof RealmEventTypes>;
