import type { RealmEventTypes, RealmImageName } from '@parley/domain/realms';
import { form } from '../events/event-forms.js';
import { opened, type Presenters, toNobody } from '../events/event-presenter.js';
import { presentRealmImage, REALM_IMAGES, realmImageFields } from '../files/realm-image-urls.js';
import * as wire from '../kernel/wire-schema.js';

export const REALM_EVENTS = {
  'realm.deactivated': {
    forms: [form('realm', { op: wire.oneOf('deactivated'), realm_id: wire.integer() })],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
  'realm.image_changed': {
    forms: (Object.keys(REALM_IMAGES) as RealmImageName[]).map((name) =>
      form('realm', {
        op: wire.oneOf('update_dict'),
        property: wire.oneOf(REALM_IMAGES[name].wireName),
        data: wire.fields(realmImageFields(name)),
      }),
    ),
    present: ({ name, image }, context) =>
      context.shared('', () => {
        const data = presentRealmImage(name, image, context.publicRealm);
        return opened({ type: 'realm', op: 'update_dict', property: REALM_IMAGES[name].wireName, data });
      }),
  },
  'realm.limits_forgotten': toNobody,
} satisfies Presenters<keyof RealmEventTypes>;
