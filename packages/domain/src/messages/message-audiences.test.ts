import { makeActor, makeChannel, makeMembership, tableRows } from '@parley/testkit';
import type { ChannelPrivacy } from '../channels/channel.js';
import { isInAudience } from '../composition/audiences.js';
import type { MessageId } from '../shared/ids.js';
import type { Role } from '../users/role.js';
import { messageWatchers } from './message-audiences.js';

describe('who watches a message (messages §18)', () => {
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
  )('%s, %s: %s', (who, kind, expected) => {
    const messageId = 7 as MessageId;
    const channel = kind === 'direct' ? null : makeChannel({ privacy: kind as ChannelPrivacy });
    const member = makeMembership(makeActor(who.split(',')[0] as Role), {
      isSubscribed: (channelId) => channelId === channel?.id && who.includes('subscribed'),
      holds: (held) => held === messageId && who.includes('has it'),
    });
    const hears = isInAudience(messageWatchers({ id: messageId }, channel), member);
    expect(hears ? 'yes' : 'no').toBe(expected);
  });
});
