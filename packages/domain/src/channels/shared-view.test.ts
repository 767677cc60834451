import { aChannel, aUser, createFixture } from '@parley/testkit';
import type { AccessTokenId, ChannelId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { sharedViewOf } from './shared-view.js';

async function viewWith(subscribers: number, needed: number) {
  const fixture = await createFixture(
    aUser({ name: 'a' }),
    aUser({ name: 'helper', botOf: 'a' }),
    aChannel({ name: 'room', privacy: 'privateSharedHistory', subscribers: ['a', 'helper'] }),
  );
  const { realm, uow, channel } = fixture;
  const place = { kind: 'channel', channelId: channel('room').id, topic: null } as const;
  const scope = { tokenId: 1 as AccessTokenId, actions: ['read'], conversations: [place], readers: 'all' } as const;
  return uow.read(realm.id, (reads) => {
    const channels: Repositories['channels'] = Object.create(reads.channels, {
      countSubscribers: { value: async () => subscribers },
    });
    const ids = Array.from({ length: needed }, (_, index) => (index + 1) as ChannelId);
    return sharedViewOf(
      { ...reads, channels },
      { ...fixture.caller('helper'), scope },
      needed > 0 ? new Set(ids) : null,
    );
  });
}

describe('sharedViewOf', () => {
  it('refuses private channels with more than 1,000 subscribers except the bot', async () => {
    await expect(viewWith(1002, 0)).rejects.toMatchObject({ code: 'TOO_MANY_READERS' });
    expect((await viewWith(1001, 0))!.channels.size).toBe(1);
  });

  it('refuses writes for which more than 200,000 pairs of readers and channels are compared', async () => {
    await expect(viewWith(1001, 201)).rejects.toMatchObject({ code: 'READ_CONTEXT_FULL' });
    expect((await viewWith(1001, 200))!.channels.size).toBe(1);
  });
});
