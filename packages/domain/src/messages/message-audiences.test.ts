import { makeActor, makeChannel, makeMembership, tableRows } from '@parley/testkit';
import type { Role } from '../access/roles.js';
import type { ChannelPrivacy } from '../channels/channel.js';
import { isInAudience } from '../composition/features.js';
import type { MessageId } from '../kernel/ids.js';
import { messageWatchers, watchersOfAny } from './message-delivery.js';

describe('messageWatchers (messages §18)', () => {
  it.each(
    tableRows(`
      who                        | webPublic | public | privateSharedHistory | privateProtectedHistory | direct
      member, subscribed         | yes       | yes    | yes                  | no                      | no
      member, subscribed, has it | yes       | yes    | yes                  | yes                     | yes
      member, has it             | yes       | yes    | no                   | no                      | yes
      member                     | no        | no     | no                   | no                      | no
      owner                      | no        | no     | no                   | no                      | no
      guest, subscribed          | yes       | yes    | yes                  | no                      | no
      guest, subscribed, has it  | yes       | yes    | yes                  | yes                     | yes
      guest, has it              | no        | no     | no                   | no                      | yes
    `),
  )('decides if %s is in the audience of a %s message: %s', (who, kind, expected) => {
    const messageId = 7 as MessageId;
    const channel = kind === 'direct' ? null : makeChannel({ privacy: kind as ChannelPrivacy });
    const member = makeMembership(makeActor(who.split(',')[0] as Role), {
      isSubscribed: (channelId) => channelId === channel?.id && who.includes('subscribed'),
      holds: (held) => held === messageId && who.includes('has it'),
    });
    const hears = isInAudience(messageWatchers({ id: messageId }, channel), member);
    expect(hears ? 'yes' : 'no').toBe(expected);
  });

  it('includes users who watch at least one of several messages', () => {
    const channel = makeChannel({ privacy: 'privateProtectedHistory' });
    const ids = [7, 8] as MessageId[];
    const member = makeMembership(makeActor('member'), { isSubscribed: () => true, holds: (held) => held === ids[1] });
    expect(isInAudience(watchersOfAny(ids, channel), member)).toBe(true);
    expect(isInAudience(watchersOfAny(ids.slice(0, 1), channel), member)).toBe(false);
  });
});
