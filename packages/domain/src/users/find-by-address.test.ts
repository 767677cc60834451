import { anotherRealm, aUserOfEachRole, createFixture } from '@parley/testkit';
import { findByPublicAddress, idInDummyAddress } from './find-user.js';

describe('idInDummyAddress', () => {
  it.each([
    ['user7@chat.example', 7],
    ['user1234567@chat.example', 1234567],
    [' USER7@Chat.Example ', 7],
    ['user7@chat.example.org', null],
    ['user7@elsewhere.example', null],
    ['xuser7@chat.example', null],
    ['user@chat.example', null],
    ['user7x@chat.example', null],
    [`user${'9'.repeat(16)}@chat.example`, null],
  ])('parses the user id in %j as %j', (address, id) => expect(idInDummyAddress(address, 'chat.example')).toBe(id));
});

describe('findByPublicAddress', () => {
  it('returns users keyed by the email as typed', async () => {
    const fixture = await createFixture(aUserOfEachRole(), async (theScene, tx) => {
      const owner = theScene.user('owner');
      await tx.users.update({ ...owner, settings: { ...owner.settings, emailAddressVisibility: 'members' } });
    });
    await anotherRealm(fixture);
    const dummy = ` USER${fixture.user('owner').id}@chat.example`;
    const typed = [
      ' GUEST@example.com ',
      dummy,
      'owner@example.com',
      'otherRealmUser@example.com',
      'user9999@chat.example',
    ];
    const found = await fixture.uow.read(fixture.realm.id, (r) =>
      findByPublicAddress(r, fixture.realm.id, typed, 'chat.example'),
    );
    expect([...found].map(([address, user]) => [address, user.fullName])).toEqual([
      [' GUEST@example.com ', 'guest'],
      [dummy, 'owner'],
    ]);
  });
});
