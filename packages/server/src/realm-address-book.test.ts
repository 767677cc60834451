import { CreateRealm, type RealmId } from '@parley/domain';
import { FixedClock, MemoryStorage } from '@parley/testkit';
import { RealmAddressBook } from './realm-address-book.js';
import { SystemRandomness } from './system-randomness.js';

async function given(realms: readonly string[], options: { url?: string; defaultRealm?: string } = {}) {
  const clock = new FixedClock();
  const storage = new MemoryStorage(clock);
  const createRealm = new CreateRealm(storage.uow, clock, new SystemRandomness());
  const ids = new Map<string, RealmId>();
  const add = async (stringId: string) => {
    ids.set(stringId, (await createRealm.execute({ stringId, name: `Realm ${stringId}` })).id);
  };
  for (const stringId of realms) await add(stringId);
  const book = new RealmAddressBook(storage.uow, clock, {
    url: options.url ?? 'https://chat.example.com',
    defaultRealm: options.defaultRealm ?? null,
  });
  const nameOf = async (host: string) => {
    const id = await book.findRealm(host);
    return id === null ? null : [...ids].find(([, known]) => known === id)![0];
  };
  return { book, add, nameOf, clock };
}

describe('RealmAddressBook', () => {
  it.each`
    realms          | fallback     | host                       | found
    ${['lear']}     | ${undefined} | ${'chat.example.com'}      | ${'lear'}
    ${['lear']}     | ${undefined} | ${'lear.chat.example.com'} | ${'lear'}
    ${['lear']}     | ${undefined} | ${'www.chat.example.com'}  | ${'lear'}
    ${['lear']}     | ${undefined} | ${'10.0.0.7'}              | ${'lear'}
    ${['lear']}     | ${undefined} | ${'no.chat.example.com'}   | ${null}
    ${['a', 'b']}   | ${undefined} | ${'chat.example.com'}      | ${null}
    ${['a', 'b']}   | ${undefined} | ${'10.0.0.7'}              | ${null}
    ${['a', 'b']}   | ${undefined} | ${'b.chat.example.com'}    | ${'b'}
    ${['a', 'b']}   | ${'b'}       | ${'chat.example.com'}      | ${'b'}
    ${['a', 'b']}   | ${'b'}       | ${'elsewhere.example.org'} | ${'b'}
    ${['a', 'b']}   | ${'b'}       | ${'no.chat.example.com'}   | ${null}
    ${['', 'lear']} | ${undefined} | ${'chat.example.com'}      | ${''}
    ${['', 'lear']} | ${undefined} | ${'lear.chat.example.com'} | ${'lear'}
    ${[]}           | ${undefined} | ${'chat.example.com'}      | ${null}
  `('of realms $realms (default $fallback), $host is $found', async ({ realms, fallback, host, found }) => {
    const { nameOf } = await given(realms, { defaultRealm: fallback });
    expect(await nameOf(host)).toBe(found);
  });

  it.each`
    realms        | fallback     | url                            | stringId  | address
    ${['lear']}   | ${undefined} | ${'https://chat.example.com'}  | ${'lear'} | ${'https://chat.example.com'}
    ${['a', 'b']} | ${undefined} | ${'https://chat.example.com'}  | ${'b'}    | ${'https://b.chat.example.com'}
    ${['a', 'b']} | ${'b'}       | ${'https://chat.example.com'}  | ${'b'}    | ${'https://chat.example.com'}
    ${['', 'b']}  | ${undefined} | ${'http://localhost:9991'}     | ${''}     | ${'http://localhost:9991'}
    ${['a', 'b']} | ${'b'}       | ${'https://example.com/chat/'} | ${'b'}    | ${'https://example.com/chat'}
    ${['a', 'b']} | ${'b'}       | ${'https://example.com/chat'}  | ${'a'}    | ${'https://a.example.com/chat'}
    ${['', 'b']}  | ${undefined} | ${'http://localhost:9991'}     | ${'b'}    | ${'http://b.localhost:9991'}
  `('of realms $realms (default $fallback), $stringId is at $address', async (row) => {
    const { book } = await given(row.realms, { url: row.url, defaultRealm: row.fallback });
    await book.refresh();
    expect(book.urlOf({ stringId: row.stringId })).toBe(row.address);
  });

  it.each`
    url                           | stringId | mailHost
    ${'https://chat.example.com'} | ${''}    | ${'chat.example.com'}
    ${'https://chat.example.com'} | ${'b'}   | ${'b.chat.example.com'}
    ${'http://localhost:9991'}    | ${'b'}   | ${'parley.invalid'}
    ${'http://127.0.0.1:9991'}    | ${''}    | ${'parley.invalid'}
    ${'http://[::1]:9991'}        | ${''}    | ${'parley.invalid'}
  `('at $url dummy addresses of "$stringId" end in $mailHost', async ({ url, stringId, mailHost }) => {
    const { book } = await given(['', 'b'], { url });
    await book.refresh();
    expect(book.mailHostOf({ stringId })).toBe(mailHost);
  });

  it('finds a realm that was added meanwhile at once', async () => {
    const { nameOf, add } = await given(['a']);
    expect(await nameOf('b.chat.example.com')).toBeNull();
    await add('b');
    expect(await nameOf('b.chat.example.com')).toBe('b');
  });

  it('notices within seconds that a realm is no longer the only one', async () => {
    const { nameOf, add, clock } = await given(['a']);
    expect(await nameOf('chat.example.com')).toBe('a');
    await add('b');
    clock.advance(2);
    expect(await nameOf('chat.example.com')).toBeNull();
  });
});
