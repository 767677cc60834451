import { EXPORT_PARTS, FEATURES } from '@parley/domain/composition';
import type { Repositories } from '@parley/domain/kernel';
import { aChannel, aMessage, aUser, createFixture, intercepting, MemoryBlobStore } from '@parley/testkit';
import { RealmReader } from './read-realm.js';

describe('RealmReader', () => {
  it('gives a reason for each repository that is not exported', async () => {
    const { uow, realm, clock } = await createFixture(
      aUser({ name: 'Hamlet', avatar: { source: 'uploaded', key: 'a' } as never }),
      aChannel({ name: 'town', subscribers: ['Hamlet'] }),
      aMessage({ from: 'Hamlet', to: 'town' }),
    );
    const read = new Set<string>();
    let all: readonly string[] = [];
    const reader = new RealmReader(
      intercepting(uow, {
        read: (work, run) =>
          run((repositories) => {
            all = Object.entries(repositories).flatMap(([name, each]) => (typeof each === 'function' ? [] : [name]));
            const spied = new Proxy(repositories, {
              get: (target, name: string & keyof Repositories) => {
                read.add(name);
                return target[name];
              },
            });
            return work(spied);
          }),
      }),
      new MemoryBlobStore(clock),
      EXPORT_PARTS,
    );
    const source = await reader.open(realm.id, { covers: 'all' });
    const parts = [source.people(), source.messages(), source.files(), source.avatars(), source.emojiPictures()];
    for (const part of parts) for await (const _ of part);
    const explained = FEATURES.flatMap(({ notExported = {} }) => Object.keys(notExported));
    expect(explained.sort()).toEqual(all.filter((name) => !read.has(name)).sort());
  });
});
