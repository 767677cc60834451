import {
  anotherRealm,
  aUser,
  createFixture,
  fakeEventLoop,
  MemoryBlobStore,
  MemoryPartialBlobStore,
} from '@parley/testkit';
import type { RealmId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { PLAIN_TEXTS } from '../messages/search.js';
import type { BlobKey } from './blobs.js';
import { MAX_FILE_TERMS, ReadFileTexts, TERMS_AT_A_TIME } from './file-texts.js';
import { SweepFiles } from './files.use-cases.js';

const BLOB = '0'.repeat(32) as BlobKey;
let paths = 0;
const words = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `word${index}`);

/** Fixture with a file, and a reader that returns the text. */
async function reading(text: string) {
  const fixture = await createFixture(aUser({ name: 'ann' }));
  const { realm, clock } = fixture;
  const blobs = new MemoryBlobStore(clock);
  const content = Buffer.from('bytes');
  await blobs.put(
    BLOB,
    (async function* () {
      yield content;
    })(),
  );
  const common = { realmId: realm.id, ownerId: fixture.user('ann').id, blob: BLOB, contentType: 'text/plain' };
  const file = { ...common, name: 'a.txt', pathId: '2/ab/c/a.txt', size: content.length, createdAt: 0, image: null };
  const { id } = await fixture.uow.write(realm.id, (tx) => tx.files.add(file));
  let units = 0;
  const counting: UnitOfWork = Object.assign(Object.create(fixture.uow), {
    write: (...call: Parameters<UnitOfWork['write']>) => {
      units++;
      return fixture.uow.write(...call);
    },
  });
  const order: RealmId[] = [];
  let duringRead = async (): Promise<unknown> => null;
  const reader = {
    reads: () => true,
    read: async (_: Uint8Array, { realmId }: { readonly realmId: RealmId }) => {
      order.push(realmId);
      await duringRead();
      return text;
    },
  };
  const readFileTexts = new ReadFileTexts(counting, blobs, reader, PLAIN_TEXTS, fakeEventLoop);
  return {
    ...{ fixture, blobs, id, order },
    read: () => readFileTexts.execute(),
    during: (change: () => Promise<unknown>) => {
      duringRead = change;
    },
    units: () => units,
    has: async (...all: readonly string[]) => {
      const searched = all.map((word) => [[word]]);
      return (await fixture.uow.read(realm.id, ({ fileTexts }) => fileTexts.find(realm.id, searched, 1))).includes(id);
    },
    isQueued: () => fixture.uow.readAcross(({ fileTexts }) => fileTexts.hasQueued()),
  };
}

describe('ReadFileTexts', () => {
  it('finds words across the parts of a long text', async () => {
    const all = words(5000);
    const { read, has } = await reading(all.join(' '));
    await read();
    expect(await has(...all)).toBe(true);
  });

  it('adds and replaces thousands of terms in several units of work', async () => {
    const { read, has, units, isQueued, fixture } = await reading(words(MAX_FILE_TERMS + 1).join(' '));
    await read();
    expect(await has(`word${MAX_FILE_TERMS - 1}`)).toBe(true);
    expect(await has(`word${MAX_FILE_TERMS}`)).toBe(false);
    const parts = MAX_FILE_TERMS / TERMS_AT_A_TIME;
    expect(units()).toBe(parts);
    await fixture.uow.writeAcross(({ fileTexts }) => fileTexts.readAgain(null));
    await read();
    expect(units()).toBe(3 * parts);
    expect(await isQueued()).toBe(false);
  });

  it('reads one file of each organization in turn', async () => {
    const { fixture, read, order } = await reading('tea');
    const other = await anotherRealm(fixture, aUser({ name: 'ann' }));
    for (const { realm, user, uow } of [fixture, fixture, other, other]) {
      const owner = { realmId: realm.id, ownerId: user('ann').id };
      const file = { blob: BLOB, contentType: 'text/plain', name: 'b.txt', size: 5, createdAt: 0, image: null };
      await uow.write(realm.id, (tx) => tx.files.add({ ...owner, ...file, pathId: `2/ab/c/b${paths++}.txt` }));
    }
    for (let i = 0; i < 5; i++) await read();
    const [a, b] = [fixture.realm.id, other.realm.id];
    expect(order).toEqual([a, b, a, b, a]);
  });

  it('removes a file without text from the queue in one unit of work', async () => {
    const { read, units, isQueued } = await reading('');
    await read();
    expect(units()).toBe(1);
    expect(await isQueued()).toBe(false);
  });

  it('keeps a file queued if the search languages change while it is read', async () => {
    const { read, isQueued, during, fixture } = await reading('tea');
    const { uow, realm } = fixture;
    during(() =>
      uow.write(realm.id, async (tx) => {
        const { settings, ...rest } = await tx.realms.get(realm.id);
        await tx.realms.update({ ...rest, settings: { ...settings, searchLanguages: 'de' } });
      }),
    );
    await read();
    expect(await isQueued()).toBe(true);
    await read();
    expect(await isQueued()).toBe(false);
  });
});

it('SweepFiles removes the terms of a file in several units of work', async () => {
  const { fixture, blobs, read, has } = await reading(words(MAX_FILE_TERMS).join(' '));
  await read();
  const { uow, clock } = fixture;
  clock.advance(30 * 86_400);
  let units = 0;
  const counting: UnitOfWork = Object.assign(Object.create(uow), {
    writeAcross: (...call: Parameters<UnitOfWork['writeAcross']>) => {
      units++;
      return uow.writeAcross(...call);
    },
  });
  const sweep = new SweepFiles(counting, blobs, new MemoryPartialBlobStore(blobs, clock), clock, []);
  const { files } = await sweep.execute({ keepDetachedSeconds: 0 });
  expect(files).toBe(1);
  expect(units).toBeGreaterThanOrEqual(MAX_FILE_TERMS / TERMS_AT_A_TIME);
  expect(await has('word1')).toBe(false);
});
