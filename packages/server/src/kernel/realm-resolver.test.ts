import { SERVER_ITSELF } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import type { Realm } from '@parley/domain/realms';
import { SystemRandomness } from '@parley/node-adapters';
import { FixedClock, realmChangesOn, systemMessagesOn } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { type RealmAddresses, RealmResolver, serverAddressOf } from './realm-resolver.js';

/** Creates realms in this order without a configured default. */
async function setUp(
  names: readonly string[],
  options: { url?: string; defaultRealm?: string; realmAddresses?: RealmAddresses } = {},
) {
  const clock = new FixedClock();
  const storage = new MemoryStorage(clock);
  const url = options.url ?? 'https://chat.example.com';
  const by = options.realmAddresses && { realmAddresses: options.realmAddresses };
  const server = serverAddressOf({ url, defaultRealm: null, ...by });
  const createRealm = new CreateRealm(
    storage.uow,
    clock,
    new SystemRandomness(),
    server,
    realmChangesOn({ uow: storage.uow, clock }),
    systemMessagesOn(clock),
  );
  const realms = new Map<string, Realm>();
  const add = async (stringId: string) => {
    realms.set(stringId, await createRealm.execute({ stringId, name: `Realm ${stringId}` }));
  };
  for (const name of names) await add(name);
  const book = new RealmResolver(storage.uow, clock, { url, defaultRealm: options.defaultRealm ?? null, ...by });
  const nameOf = async (host: string) => {
    const id = await book.findRealm(host);
    return id === null ? null : [...realms.values()].find((realm) => realm.id === id)!.stringId;
  };
  return { book, add, nameOf, clock, realm: (stringId: string) => realms.get(stringId)! };
}

describe('RealmResolver', () => {
  it.each`
    realms          | fallback     | host                       | found
    ${['lear']}     | ${undefined} | ${'chat.example.com'}      | ${'lear'}
    ${['lear']}     | ${undefined} | ${'lear.chat.example.com'} | ${'lear'}
    ${['lear']}     | ${undefined} | ${'www.chat.example.com'}  | ${'lear'}
    ${['lear']}     | ${undefined} | ${'10.0.0.7'}              | ${'lear'}
    ${['lear']}     | ${undefined} | ${'no.chat.example.com'}   | ${null}
    ${['a', 'b']}   | ${undefined} | ${'chat.example.com'}      | ${'a'}
    ${['a', 'b']}   | ${undefined} | ${'10.0.0.7'}              | ${'a'}
    ${['a', 'b']}   | ${undefined} | ${'a.chat.example.com'}    | ${'a'}
    ${['a', 'b']}   | ${undefined} | ${'b.chat.example.com'}    | ${'b'}
    ${['a', 'b']}   | ${'c'}       | ${'chat.example.com'}      | ${'a'}
    ${['a', 'b']}   | ${'b'}       | ${'chat.example.com'}      | ${'b'}
    ${['a', 'b']}   | ${'b'}       | ${'elsewhere.example.org'} | ${'b'}
    ${['a', 'b']}   | ${'b'}       | ${'no.chat.example.com'}   | ${null}
    ${['', 'lear']} | ${undefined} | ${'chat.example.com'}      | ${''}
    ${['', 'lear']} | ${undefined} | ${'lear.chat.example.com'} | ${'lear'}
    ${[]}           | ${undefined} | ${'chat.example.com'}      | ${null}
  `(
    'resolves host $host to $found among realms $realms with default $fallback',
    async ({ realms, fallback, host, found }) => {
      const { nameOf } = await setUp(realms, { defaultRealm: fallback });
      expect(await nameOf(host)).toBe(found);
    },
  );

  it.each`
    realms        | fallback     | url                            | stringId  | address
    ${['lear']}   | ${undefined} | ${'https://chat.example.com'}  | ${'lear'} | ${'https://chat.example.com'}
    ${['a', 'b']} | ${undefined} | ${'https://chat.example.com'}  | ${'a'}    | ${'https://chat.example.com'}
    ${['a', 'b']} | ${'c'}       | ${'https://chat.example.com'}  | ${'a'}    | ${'https://chat.example.com'}
    ${['a', 'b']} | ${undefined} | ${'https://chat.example.com'}  | ${'b'}    | ${'https://b.chat.example.com'}
    ${['a', 'b']} | ${'b'}       | ${'https://chat.example.com'}  | ${'b'}    | ${'https://chat.example.com'}
    ${['', 'b']}  | ${undefined} | ${'http://localhost:9991'}     | ${''}     | ${'http://localhost:9991'}
    ${['a', 'b']} | ${'b'}       | ${'https://example.com/chat/'} | ${'b'}    | ${'https://example.com/chat'}
    ${['a', 'b']} | ${'b'}       | ${'https://example.com/chat'}  | ${'a'}    | ${'https://a.example.com/chat'}
    ${['', 'b']}  | ${undefined} | ${'http://localhost:9991'}     | ${'b'}    | ${'http://b.localhost:9991'}
  `('assigns $address to $stringId among realms $realms with default $fallback', async (row) => {
    const { book, realm } = await setUp(row.realms, { url: row.url, defaultRealm: row.fallback });
    await book.refresh();
    expect(book.urlOf(realm(row.stringId))).toBe(row.address);
    expect(book.urlOf(SERVER_ITSELF)).toBe(row.url.replace(/\/$/, ''));
  });

  it.each`
    url                           | stringId | mailHost
    ${'https://chat.example.com'} | ${''}    | ${'chat.example.com'}
    ${'https://chat.example.com'} | ${'b'}   | ${'b.chat.example.com'}
    ${'http://localhost:9991'}    | ${'b'}   | ${'parley.invalid'}
    ${'http://127.0.0.1:9991'}    | ${''}    | ${'parley.invalid'}
    ${'http://[::1]:9991'}        | ${''}    | ${'parley.invalid'}
  `(
    'generates dummy emails of "$stringId" ending in $mailHost for $url',
    async ({ url, stringId, mailHost: emailDomain }) => {
      const { book } = await setUp([], { url });
      await book.refresh();
      expect(book.emailDomainOf({ stringId, isAtServerAddress: stringId === '' })).toBe(emailDomain);
    },
  );

  it.each([
    ['https://chat.example.com', true],
    ['http://localhost:9991', true],
    ['http://127.0.0.1:9991', false],
    ['http://[2001:db8::1]/chat', false],
  ])('reports for %s whether realms can have other hosts: %s', (url, hasSubdomains) => {
    expect(serverAddressOf({ url, defaultRealm: null })).toEqual({ defaultRealm: null, hasSubdomains });
  });

  it('finds a newly added realm immediately', async () => {
    const { nameOf, add } = await setUp(['a']);
    expect(await nameOf('b.chat.example.com')).toBeNull();
    await add('b');
    expect(await nameOf('b.chat.example.com')).toBe('b');
  });

  it('keeps the first realm at its address after another one is added', async () => {
    const { nameOf, add, clock, book, realm } = await setUp(['a']);
    expect(await nameOf('chat.example.com')).toBe('a');
    await add('b');
    clock.advance(2);
    expect(await nameOf('chat.example.com')).toBe('a');
    expect(await nameOf('b.chat.example.com')).toBe('b');
    expect(book.urlOf(realm('a'))).toBe('https://chat.example.com');
  });
});

describe('RealmResolver with realms by path', () => {
  it.each`
    address               | found
    ${'/lear'}            | ${'lear'}
    ${'/shop'}            | ${'shop'}
    ${'/nowhere'}         | ${null}
    ${'chat.example.com'} | ${'lear'}
    ${'shop.example.com'} | ${'lear'}
  `('resolves $address to $found', async ({ address, found }) => {
    const { nameOf } = await setUp(['lear', 'shop'], { realmAddresses: 'path' });
    expect(await nameOf(address)).toBe(found);
  });

  it('gives each realm except the one at the public URL a separate address', async () => {
    const url = 'https://example.com/chat/';
    const { book, realm } = await setUp(['lear', 'shop'], { url, realmAddresses: 'path' });
    expect(['lear', 'shop'].map((name) => book.urlOf(realm(name)))).toEqual([
      'https://example.com/chat/lear',
      'https://example.com/chat/shop',
    ]);
    expect(book.emailDomainOf(realm('shop'))).toBe('example.com');
    const chosen = await setUp(['lear', 'shop'], { url, realmAddresses: 'path', defaultRealm: 'shop' });
    expect(chosen.book.urlOf(chosen.realm('shop'))).toBe('https://example.com/chat');
  });

  it('supports several realms at an IP address', async () => {
    const { book, realm } = await setUp(['lear', 'shop'], { url: 'http://127.0.0.1:9991', realmAddresses: 'path' });
    expect(book.urlOf(realm('shop'))).toBe('http://127.0.0.1:9991/shop');
  });
});
