import type { RealmUrls } from '@parley/domain/kernel';
import { aRealm, createFixture } from '@parley/testkit';
import { PublicRealms } from './public-realm.js';

describe('PublicRealms', () => {
  it('returns the current URLs of a realm', async () => {
    const fixture = await createFixture(aRealm({ stringId: 'lear' }));
    let isAlone = true;
    const host = () => (isAlone ? 'chat.example' : 'lear.chat.example');
    const realmUrls: RealmUrls = { urlOf: () => `https://${host()}`, emailDomainOf: host };
    const publicRealms = new PublicRealms(fixture.uow, realmUrls);
    const { everyone: everyoneId } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    const realm = { id: fixture.realm.id, stringId: 'lear', everyoneId };
    expect(await publicRealms.of(fixture.realm.id)).toEqual({
      ...realm,
      url: 'https://chat.example',
      emailDomain: 'chat.example',
    });
    isAlone = false;
    expect(await publicRealms.of(fixture.realm.id)).toEqual({
      ...realm,
      url: 'https://lear.chat.example',
      emailDomain: 'lear.chat.example',
    });
  });
});
