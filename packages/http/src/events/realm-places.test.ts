import type { RealmAddresses } from '@parley/domain';
import { aRealm, given } from '@parley/testkit';
import { RealmPlaces } from './realm-places.js';

describe('where realms are', () => {
  it('is as the addresses have it now', async () => {
    const scene = await given(aRealm({ stringId: 'lear' }));
    let isAlone = true;
    const host = () => (isAlone ? 'chat.example' : 'lear.chat.example');
    const addresses: RealmAddresses = { urlOf: () => `https://${host()}`, mailHostOf: host };
    const places = new RealmPlaces(scene.uow, addresses);
    const place = { id: scene.realm.id, stringId: 'lear' };
    expect(await places.of(scene.realm.id)).toEqual({
      ...place,
      url: 'https://chat.example',
      mailHost: 'chat.example',
    });
    isAlone = false;
    expect(await places.of(scene.realm.id)).toEqual({
      ...place,
      url: 'https://lear.chat.example',
      mailHost: 'lear.chat.example',
    });
  });
});
